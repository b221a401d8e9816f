import Glibc

/// A tar that grows by whole items under a name of its own, and gets its final name when it is whole.
///
/// What cannot be written is cut off again, so that a full disk leaves a part that ends with a whole item.
final class TarWriter {
  static let partEnding = ".netspool-part"

  private(set) var bytes: Int64
  private(set) var items: Int
  private let path: String
  private let file: OutputFile

  /// Begins the part of `path`, or goes on with it behind its last whole item.
  init(_ path: String, after bytes: Int64 = 0, items: Int = 0) throws(IOFailure) {
    (self.path, self.bytes, self.items) = (path, bytes, items)
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
    file = OutputFile(try Descriptor(opening: path + Self.partEnding, flags))
    try file.cut(to: Int(bytes))
  }

  /// Appends an item: what stands before the body of a file, the body, and what stands behind it.
  func add(_ item: TarItem, from source: borrowing BodyFile) throws(IOFailure) {
    do throws(IOFailure) {
      try file.write(item.head)
      try source.copy(to: file)
      try file.write(item.tail)
      try file.flush()
    } catch {
      try? file.cut(to: Int(bytes))
      throw error
    }
    bytes += item.bytes
    items += 1
  }

  func finish() throws(IOFailure) {
    do throws(IOFailure) {
      try file.write(TarHeader.end)
      try file.sync()
    } catch {
      try? file.cut(to: Int(bytes))
      throw error
    }
    guard unsafe rename(path + Self.partEnding, path) == 0 else { throw .last("write", path) }
  }
}

/// The members of an item in a tar: a body, and what is known of it.
struct TarItem {
  /// The body's header, and what follows the body: its padding, and the other member.
  let head: [UInt8]
  private let bodyBytes: Int64
  let tail: [UInt8]

  init(_ body: TarHeader, _ info: (name: String, bytes: [UInt8])) {
    let infoHeader = TarHeader(name: info.name, size: Int64(info.bytes.count), modified: body.modified)
    (head, bodyBytes) = (body.bytes, body.size)
    tail = Self.padding(body.size) + infoHeader.bytes + info.bytes + Self.padding(infoHeader.size)
  }

  var bytes: Int64 { Int64(head.count) + bodyBytes + Int64(tail.count) }

  private static func padding(_ count: Int64) -> [UInt8] {
    [UInt8](repeating: 0, count: Int(TarHeader.padded(count) - count))
  }
}

/// A body that has landed. An answer without one made no file.
struct BodyFile: ~Copyable {
  let bytes: Int64
  let modified: Int64
  private let file: Descriptor?

  init(_ path: String) throws(IOFailure) {
    let facts = FileFacts(path: path)
    if facts == nil { file = nil } else { file = try Descriptor(opening: path, O_RDONLY) }
    bytes = Int64(facts?.size ?? 0)
    modified = facts.map { Int64($0.modified[0]) } ?? WallTime.now.components.seconds
  }

  func copy(to output: OutputFile) throws(IOFailure) {
    if file != nil { try Self.copy(bytes, of: file!, to: output) }
  }

  /// Apart, as Swift 6.3 cannot optimize a closure that stands beside `file!`.
  private static func copy(
    _ bytes: Int64, of file: borrowing Descriptor, to output: OutputFile
  ) throws(IOFailure) {
    try file.eachPiece(of: bytes) { piece throws(IOFailure) in try output.write(piece) }
  }
}
