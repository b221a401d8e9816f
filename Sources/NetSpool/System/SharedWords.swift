internal import Glibc
internal import Synchronization

/// Words of 64 bits in a file that several processes map, each read and written whole. Any thread, any process; a process
/// that dies in the middle of anything leaves every word as it was or as it was to be.
final class SharedWords: Sendable {
  let count: Int
  private let start: UInt

  /// Maps the first words of a file, whose blocks the disk has set aside: a hole on a full disk would be SIGBUS.
  init(mapping file: borrowing FileDescriptor, count: Int) throws(SystemError) {
    let number = file.rawValue
    let memory = unsafe mmap(nil, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
      throw SystemError(number: errno, call: "mmap")
    }
    start = UInt(bitPattern: memory)
    self.count = count
  }

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
