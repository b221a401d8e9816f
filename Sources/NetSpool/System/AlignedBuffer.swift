internal import Glibc
internal import Synchronization

/// Bytes on their way to a file. The loop fills the buffer, hands it to a worker, and gets it back.
///
/// At `fullCapacity` the memory starts at a page boundary, as direct writes (`O_DIRECT`) demand; below
/// it is ordinary memory, so that ten thousand small bodies do not cost ten thousand pages each.
/// The lock inside is never waited for: the two sides take turns.
final class AlignedBuffer: Sendable {
  /// 512 KiB: past this, larger writes cost no less.
  static let fullCapacity = 512 << 10
  /// 16 KiB: what libcurl hands over at once.
  static let smallCapacity = 16 << 10
  static let pageBytes = 4096

  private let memory: Mutex<AlignedMemory>

  /// `capacity` is kept between one page and `fullCapacity`.
  init(capacity: Int = smallCapacity) {
    memory = Mutex(AlignedMemory(capacity: min(max(capacity, Self.pageBytes), Self.fullCapacity)))
  }

  var count: Int { memory.withLock { $0.count } }
  var capacity: Int { memory.withLock { $0.capacity } }

  /// Takes as many of the bytes from `start` on as fit, growing up to `fullCapacity`, and answers how many.
  func append(_ bytes: RawSpan, from start: Int = 0) -> Int {
    memory.withLock { $0.append(bytes, from: start) }
  }

  var isFull: Bool { count == Self.fullCapacity }

  func withBytes<Result: Sendable, Problem: Error>(
    _ body: (RawSpan) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    try memory.withLock { memory throws(Problem) in try body(memory.bytes) }
  }

  func removeAll() { memory.withLock { $0.count = 0 } }
}

/// The allocation behind an `AlignedBuffer`.
@safe private struct AlignedMemory: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    unsafe base = Self.allocate(capacity)
  }

  deinit { unsafe free(base) }

  private static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
    let alignment = capacity < AlignedBuffer.fullCapacity ? 16 : AlignedBuffer.pageBytes
    // aligned_alloc(3) wants a multiple of the alignment.
    let rounded = (capacity + alignment - 1) / alignment * alignment
    guard let memory = unsafe aligned_alloc(alignment, rounded) else {
      fatalError("NetSpool: no memory for a buffer of \(capacity) bytes")
    }
    return unsafe memory
  }

  var bytes: RawSpan {
    @_lifetime(borrow self) get {
      let span = unsafe RawSpan(_unsafeStart: base, byteCount: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  mutating func append(_ bytes: RawSpan, from start: Int) -> Int {
    let offered = bytes.byteCount - start
    while capacity - count < offered && capacity < AlignedBuffer.fullCapacity { grow() }
    let taken = min(offered, capacity - count)
    guard taken > 0 else { return 0 }
    unsafe bytes.withUnsafeBytes { source in
      unsafe (base + count).copyMemory(from: source.baseAddress! + start, byteCount: taken)
    }
    count += taken
    return taken
  }

  private mutating func grow() {
    let larger = min(capacity * 4, AlignedBuffer.fullCapacity)
    let moved = unsafe Self.allocate(larger)
    unsafe moved.copyMemory(from: base, byteCount: count)
    unsafe free(base)
    unsafe base = moved
    capacity = larger
  }
}

/// Full-sized buffers between two uses. Small ones are left to the allocator, which is as fast.
final class AlignedBufferPool: Sendable {
  private let free = Mutex<[AlignedBuffer]>([])
  /// 4 MiB.
  private static let freeMax = 8

  /// An empty buffer; a small one (it grows by itself) when few or unknown bytes are to come.
  func take(bytesExpected: Int64?) -> AlignedBuffer {
    let bytes = min(bytesExpected ?? Int64(AlignedBuffer.smallCapacity), Int64(AlignedBuffer.fullCapacity))
    if bytes == AlignedBuffer.fullCapacity, let buffer = free.withLock({ $0.popLast() }) { return buffer }
    return AlignedBuffer(capacity: Int(bytes))
  }

  /// Takes a buffer back; its giver may not hold on to it.
  func give(_ buffer: AlignedBuffer) {
    guard buffer.capacity == AlignedBuffer.fullCapacity else { return }
    buffer.removeAll()
    free.withLock { if $0.count < Self.freeMax { $0.append(buffer) } }
  }
}
