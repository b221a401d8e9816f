internal import Glibc
internal import Synchronization

/// Words of 64 bits in a file that several processes map, each read and written whole. Any thread, any process; a process
/// that dies in the middle of anything leaves every word as it was or as it was to be.
final class SharedWords: Sendable {
  let count: Int
  private let start: UInt
  private let memory: SharedMemory

  /// Takes the words of shared memory, which it keeps.
  init(in memory: SharedMemory, count: Int) throws(SystemError) {
    let number = memory.file.rawValue
    let start = unsafe mmap(nil, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      throw SystemError(number: errno, call: "mmap")
    }
    self.start = UInt(bitPattern: start)
    self.memory = memory
    self.count = count
  }

  /// They stay what they are to this process; the next one may begin with others.
  func letGo() { memory.letGo() }

  deinit { unsafe munmap(UnsafeMutableRawPointer(bitPattern: start), count * 8) }

  @inline(__always)
  private func word(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    precondition(index >= 0 && index < count, "a word outside of the map")
    return unsafe UnsafeMutablePointer(bitPattern: start + UInt(index) * 8)!
  }

  subscript(index: Int) -> UInt64 { unsafe word(index).pointee.load(ordering: .sequentiallyConsistent) }

  /// True when it was what was expected.
  func exchange(_ expected: UInt64, for desired: UInt64, at index: Int) -> Bool {
    unsafe word(index).pointee.compareExchange(
      expected: expected, desired: desired, ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// Answers what it is afterwards.
  func increment(at index: Int) -> UInt64 {
    unsafe word(index).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
  }
}
