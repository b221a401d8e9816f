internal import Glibc

/// Decides when a file is written past the page cache (`O_DIRECT`).
///
/// That saves the copy into the cache, and a long body does not push a service's working set out of memory.
/// It pays only for long bodies, and works only where memory, offset and length are whole pages; the rest,
/// a body's tail above all, is written the ordinary way.
struct DirectWriting: Sendable {
  /// 8 MiB: bodies known to be at least so long are written directly from the start.
  static let bytesMin: Int64 = 8 << 20
  /// 1 MiB: a body of unknown length is taken for a long one once it has come so far.
  static let bytesMinWhenUnknown: Int64 = 1 << 20

  /// Direct from this offset on; nil: never.
  private var threshold: Int64?
  private(set) var isOn = false

  init(bytesExpected: Int64?) {
    if let bytesExpected {
      threshold = bytesExpected >= Self.bytesMin ? 0 : nil
    } else {
      threshold = Self.bytesMinWhenUnknown
    }
  }

  /// Sets the file's flag for the next write, and answers how many of `count` bytes that write should have.
  mutating func prepare(_ file: borrowing FileDescriptor, offset: Int64, start: Int, count: Int) -> Int {
    let pages = wholePages(offset: offset, start: start, count: count)
    if isOn != (pages > 0) { turn(on: !isOn, file) }
    return isOn ? pages : count
  }

  /// The file system has none: never asked again for this file.
  mutating func refuse(_ file: borrowing FileDescriptor) {
    turn(on: false, file)
    isOn = false
    threshold = nil
  }

  private mutating func turn(on: Bool, _ file: borrowing FileDescriptor) {
    do {
      try file.setDirect(on)
      isOn = on
    } catch { threshold = nil }
  }

  /// How many of the bytes a direct write can take; `start` is where they begin in page-aligned memory.
  private func wholePages(offset: Int64, start: Int, count: Int) -> Int {
    let page = AlignedBuffer.pageBytes
    guard let threshold, offset >= threshold else { return 0 }
    guard offset % Int64(page) == 0 && start % page == 0 else { return 0 }
    return count / page * page
  }
}
