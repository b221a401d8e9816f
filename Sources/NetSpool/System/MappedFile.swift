internal import Glibc
internal import Synchronization

/// The bytes of a file that no process changes any more, read through the page cache. No descriptor of it is kept.
///
/// Any thread. The last reference may go anywhere: with it go the blocks of a file without a name, which takes time, and on
/// a disk that hangs for ever, so a thread of its own does that.
@safe final class MappedFile: Sendable {
  private let start: UInt
  let count: Int
  private let isNamed: Atomic<Bool>

  /// Maps the first bytes of an open file, which must have as many. Nil for an empty one, and when the system refuses.
  init?(_ descriptor: Int32, count: Int, isNamed: Bool) {
    let start = UInt(bitPattern: unsafe mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0))
    if start == UInt(bitPattern: -1) { return nil }
    (self.start, self.count) = (start, count)
    self.isNamed = Atomic(isNamed)
  }

  /// The file is about to lose its name.
  func willLoseName() { isNamed.store(false, ordering: .relaxed) }

  deinit {
    let (start, count) = (start, count)
    let unmap: @Sendable () -> Void = { unsafe munmap(UnsafeMutableRawPointer(bitPattern: start), count) }
    if isNamed.load(ordering: .relaxed) { unmap() } else { SystemThread.close(unmap) }
  }

  private var buffer: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start), count: count)
  }

  func withUnsafeBytes<Result, Problem: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    try unsafe use(buffer)
  }

  /// The bytes, for as long as this lives.
  var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(RawSpan(_unsafeBytes: buffer), borrowing: self) }
  }
}
