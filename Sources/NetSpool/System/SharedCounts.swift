internal import Glibc
internal import Synchronization

/// Counts that many threads add to all the time, and that are read seldom: each thread, or loop, adds in a line of memory of its
/// own, so that none waits for another's, and who reads adds them up. Any thread.
struct SharedCounts<Name: RawRepresentable & CaseIterable>: ~Copyable, Sendable where Name.RawValue == Int {
  private let start: UInt
  private let lines: Int

  private static var wordsEach: Int { 8 }
  private static var lineBytes: Int { 64 }

  /// With a line for each loop; threads share as many as there are.
  init(lines: Int = 32) {
    precondition(Name.allCases.count <= Self.wordsEach, "a line has no room for so many counts")
    self.lines = lines
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: lines * Self.lineBytes, alignment: Self.lineBytes)
    let words = unsafe memory.bindMemory(to: Atomic<Int>.self, capacity: lines * Self.wordsEach)
    for index in 0..<lines * Self.wordsEach { unsafe (words + index).initialize(to: Atomic(0)) }
    start = UInt(bitPattern: memory)
  }

  deinit { unsafe UnsafeMutableRawPointer(bitPattern: start)?.deallocate() }

  @inline(__always)
  private func word(_ name: Name, _ line: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    assert(line >= 0 && line < lines, "a count outside of the lines")
    return unsafe UnsafeMutablePointer(
      bitPattern: start + UInt(line * Self.lineBytes + name.rawValue * MemoryLayout<Int>.size))!
  }

  /// The line of this thread, which it may share with a few others.
  @inline(__always)
  private var own: Int {
    // With this factor threads made one after another, 8 MiB and a page apart, come to lines of their own.
    let mixed = UInt64(pthread_self()) &* 0x94D0_49BB_1331_11EB
    return Int((mixed >> 32) * UInt64(lines) >> 32)
  }

  @inline(__always)
  func add(_ count: Int, to name: Name) {
    unsafe word(name, own).pointee.wrappingAdd(count, ordering: .relaxed)
  }

  /// Adds in a line that no other thread writes at the same time. Returns what stands there now.
  @inline(__always)
  func add(_ count: Int, to name: Name, ofLine line: Int) -> Int {
    precondition(line >= 0 && line < lines, "a count outside of the lines")
    let word = unsafe word(name, line)
    let sum = unsafe word.pointee.load(ordering: .relaxed) + count
    unsafe word.pointee.store(sum, ordering: .relaxed)
    return sum
  }

  /// The sum of all lines.
  subscript(name: Name) -> Int {
    (0..<lines).reduce(0) { unsafe $0 + word(name, $1).pointee.load(ordering: .relaxed) }
  }

  /// Returns a number that is given once, from 1 on; they are in order on each thread alone.
  func next(_ name: Name) -> UInt64 {
    let line = own
    let turn = unsafe word(name, line).pointee.wrappingAdd(1, ordering: .relaxed).oldValue
    return UInt64(turn * lines + line + 1)
  }
}

/// An object that is there once it is made, and that threads look at without a lock. Any thread.
struct PublishedOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  // It was retained, stays what it is, and is released with this.
  private let address = Atomic<UInt>(0)

  @inline(__always)
  var object: Object? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else {
      return nil
    }
    return unsafe Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Once.
  func publish(_ object: Object) {
    let retained = unsafe UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
    let before = address.exchange(retained, ordering: .acquiringAndReleasing)
    precondition(before == 0, "published twice")
  }

  deinit {
    if let pointer = unsafe UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) {
      unsafe Unmanaged<Object>.fromOpaque(pointer).release()
    }
  }
}
