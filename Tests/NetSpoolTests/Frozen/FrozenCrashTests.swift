import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// Processes that are killed as soon as they start; what becomes of those that are at work is in `NetSpoolCrashTests`.
struct FrozenCrashTests {
  /// Five in a row, while LMDB is opened or while the tables are looked through: a process that is killed as soon as
  /// it starts says nothing about the file.
  @Test(arguments: [1, 2]) func `crashes in recovery do not add up`(pass: Int) async throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let path = directory.path
    let store = try directory.openFrozen()
    for number in 0..<10 { _ = try store.accept("payload \(number)") }
    store.close()
    for _ in 0..<5 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, pass = pass as Int] in
        unsafe setenv("NETSPOOL_FAILPOINT", "duringRecovery:\(pass)", 1)
        _ = try FrozenStore.open(FrozenStoreSettings(directory: path))
      }
    }
    let opened = try directory.openFrozen()
    #expect(opened.opening.found == .whole)
    #expect(try opened.numbers == Array(1...10))
  }
}
