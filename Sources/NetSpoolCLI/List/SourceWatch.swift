import Glibc

/// The state of a list when it was opened, to notice that another process writes to it while it is read.
///
/// Half of an old line and half of a new one may look like a URL that no line holds. So what was read is used only when the
/// file was still the same after the read.
struct SourceWatch {
  enum Finding: Equatable {
    case same
    /// What was there at first still is, and something was added.
    case grown
    case changed
  }

  let bytes: Int64
  let start: Int64
  private(set) var position: Int64
  private let modified: [Int]
  /// The last bytes that were read: a file that has only grown has them still.
  private var tail: [UInt8] = []

  private static let tailBytes = 4_096

  /// Nil for what has no length: a pipe, a terminal, and an empty file, of which nothing can be lost.
  init?(_ descriptor: borrowing Descriptor) {
    guard let now = descriptor.status, now.isPlainFile, now.size > 0 else { return nil }
    (bytes, modified) = (Int64(now.size), now.modified)
    start = max(0, Int64(lseek(descriptor.number, 0, SEEK_CUR)))
    position = start
  }

  /// Of a read's bytes, how many belong to what was there at first.
  func readable(_ count: Int) -> Int { Int(max(0, min(Int64(count), bytes - position))) }

  /// Notes a read, and says what has become of the file.
  mutating func note(_ read: ArraySlice<UInt8>, of wanted: Int, from descriptor: borrowing Descriptor)
    -> Finding
  {
    guard read.count == wanted, let now = descriptor.status else { return .changed }
    let isSame = now.size == bytes && now.modified == modified
    guard isSame || now.size > bytes && holdsTail(descriptor) else { return .changed }
    position += Int64(read.count)
    if !read.isEmpty { tail = Array(read.suffix(Self.tailBytes)) }
    return isSame ? .same : .grown
  }

  private func holdsTail(_ descriptor: borrowing Descriptor) -> Bool {
    guard !tail.isEmpty else { return true }
    var found = [UInt8](repeating: 0, count: tail.count)
    let got = try? descriptor.read(into: &found, at: 0, fileOffset: position - Int64(tail.count))
    return got == tail.count && found == tail
  }
}

/// That a list was written to while it was read. What was read before is in order.
struct ListChange: Equatable, Sendable, CustomStringConvertible {
  let source: String
  let line: Int
  let hasGrown: Bool

  var description: String {
    let extent = HumanText.plural(line, "line", "lines")
    return hasGrown
      ? "\(source) has grown while it was read: what was added behind \(extent) is not fetched"
      : "\(source) was changed while it was read: \(extent) were taken, the rest is not fetched"
  }
}
