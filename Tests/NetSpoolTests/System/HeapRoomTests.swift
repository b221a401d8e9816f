import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// Where the memory of answers comes from.
struct HeapRoomTests {
  /// Without the room each body costs a page fault and a half.
  @Test(.notSanitized(.memoryIsNoMeasure))
  func `bodies that come and go in crowds are no new memory each time`()
    throws
  {
    let taken = Variable(Int.max)
    try SystemThread.start(name: "heap-room") {
      withExtendedLifetime(HeapRoom()) {
        Self.comeAndGo(times: 10)
        let before = Self.faults
        Self.comeAndGo(times: 100)
        taken.value = Self.faults - before
      }
    }.join()
    #expect(taken.value < 640, "of 6,400 bodies")
  }

  private static func comeAndGo(times: Int) {
    for _ in 0..<times {
      let bodies = (0..<64).map { [UInt8](repeating: UInt8($0), count: 8_192) }
      precondition(bodies[63][8_191] == 63)
    }
  }

  /// Of this thread.
  private static var faults: Int {
    var usage = rusage()
    unsafe getrusage(1, &usage)  // RUSAGE_THREAD, a macro
    return usage.ru_minflt
  }
}
