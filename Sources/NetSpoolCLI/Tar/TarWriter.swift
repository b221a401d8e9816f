import Glibc

/// A tar that grows by whole items under a name of its own, and gets its final name when it is whole.
///
/// What cannot be written is cut off again, so that a full disk leaves a part that ends with a whole item.
final class TarWriter {
  static let partEnding = ".netspool-part"

  private(set) var bytes: Int64
  private(set) var items: Int
  private let path: String
  private let file: Descriptor
  /// What goes to the file with the next write; filled up to `used`.
  private var buffer = [UInt8](repeating: 0, count: bufferBytes)
  private var used = 0
  private static let bufferBytes = 256 << 10

  /// Begins the part of `path`, or goes on with it behind its last whole item.
  init(_ path: String, after bytes: Int64 = 0, items: Int = 0) throws(IOFailure) {
    (self.path, self.bytes, self.items) = (path, bytes, items)
    file = try Descriptor(opening: path + Self.partEnding, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW)
    try file.resize(to: Int(bytes))
  }

  /// Appends an item: what stands before the body of a file, the body, and what stands behind it.
  func add(_ item: TarItem, from source: borrowing BodyFile) throws(IOFailure) {
    used = 0
    do throws(IOFailure) {
      try put(item.head)
      try copy(source, item.bodyBytes)
      try put(item.tail)
      try flush()
    } catch {
      try? file.resize(to: Int(bytes))
      throw error
    }
    bytes += item.bytes
    items += 1
  }

  func finish() throws(IOFailure) {
    do throws(IOFailure) {
      try file.write(TarHeader.end)
      guard fsync(file.number) == 0 else { throw .last("write", file.path) }
    } catch {
      try? file.resize(to: Int(bytes))
      throw error
    }
    guard unsafe rename(file.path, path) == 0 else { throw .last("write", path) }
  }

  private func put(_ bytes: [UInt8]) throws(IOFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = min(rest.count, buffer.count - used)
      buffer.replaceSubrange(used..<used + count, with: rest.prefix(count))
      rest = rest.dropFirst(count)
      try fill(count)
    }
  }

  private func copy(_ source: borrowing BodyFile, _ count: Int64) throws(IOFailure) {
    var left = count
    while left > 0 {
      let wanted = Int(min(left, Int64(buffer.count - used)))
      let got = try source.read(into: &buffer, at: used, count: wanted)
      guard got > 0 else { throw IOFailure(action: "read", path: "a body of \(path)", code: EIO) }
      left -= Int64(got)
      try fill(got)
    }
  }

  private func fill(_ count: Int) throws(IOFailure) {
    used += count
    if used == buffer.count { try flush() }
  }

  private func flush() throws(IOFailure) {
    defer { used = 0 }
    try file.write(used == buffer.count ? buffer : Array(buffer[..<used]))
  }
}

/// The members of an item in a tar: a body, and what is known of it.
struct TarItem {
  /// The body's header, and what follows the body: its padding, and the other member.
  let head: [UInt8]
  let bodyBytes: Int64
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
    guard FileFacts(path: path) != nil else {
      (bytes, modified) = (0, WallTime.now.components.seconds)
      file = nil
      return
    }
    file = try Descriptor(opening: path, O_RDONLY)
    bytes = Int64(FileFacts(path: path)?.size ?? 0)
    modified = FileFacts.modified(path) ?? 0
  }

  func read(into buffer: inout [UInt8], at offset: Int, count: Int) throws(IOFailure) -> Int {
    guard file != nil else { return 0 }
    return try file!.read(into: &buffer, at: offset, count: count)
  }
}
