import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// Several processes with one directory, and processes that end in the middle of it.
struct StoreProcessTests {
  private static func body(_ number: Int) -> [UInt8] { pattern(number, count: 1_000 + number * 37 % 9_000) }

  /// What a child does: puts and removes in its own part of the keys, looks into the other's.
  private static func work(_ path: String, part: Int, rounds: Int) throws {
    let store = try CacheStore.open(CacheStoreSettings(directory: path))
    for round in 0..<rounds {
      let number = round % 200 * 2 + part
      store.put("\(number)", body(number), namespace: "p\(part)", metadata: [1])
      if round % 10 == 0 { store.remove(StoreKey("\((round + 100) % 200 * 2 + part)")) }
      if round % 25 == 0 { store.flush() }
      let other = round % 200 * 2 + 1 - part
      if let hit = store.lookup("\(other)") { precondition(hit.bytes == body(other), "wrong bytes") }
    }
    store.flush()
    precondition(store.statistics.damaged == 0, "damage")
  }

  @Test func `two processes share a directory`() async throws {
    let directory = try TestFolder()
    let path = directory.path
    // Given this process has it open
    let store = try directory.open()
    store.write("ours", [1])
    // When another one uses it at the same time
    async let child = #expect(processExitsWith: .success) { [path = path as String] in
      try StoreProcessTests.work(path, part: 0, rounds: 600)
      let store = try CacheStore.open(CacheStoreSettings(directory: path))
      precondition(!store.lookup("ours").isMissing, "not seen")
      store.put("theirs", [2])
      while store.statistics.pendingBytes > 0 { store.flush() }
      store.close()
    }
    try Self.work(path, part: 1, rounds: 600)
    _ = await child
    // Then each sees what the other has committed
    #expect(store.lookup("theirs")?.bytes == [2])
    #expect(store.statistics.damaged == 0)
    for number in 0..<400 {
      if let hit = store.lookup("\(number)") { #expect(hit.bytes == Self.body(number)) }
    }
  }

  @Test(arguments: 0..<4) func `a killed writer leaves a whole store`(round: Int) async throws {
    let directory = try TestFolder()
    let path = directory.path
    // Given one process that stays, in every second round, and one that is killed while it writes
    let store = round % 2 == 0 ? try directory.open() : nil
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
      let store = try CacheStore.open(CacheStoreSettings(directory: path))
      for number in 0..<100 { store.put("early \(number)", StoreProcessTests.body(number)) }
      store.flush()
      for number in 0..<100_000 {
        store.put("\(number % 300)", StoreProcessTests.body(number % 300))
        if number == 500 + round * 333 { kill(getpid(), SIGKILL) }
      }
    }
    // Then what it had committed is there, nothing is wrong, and writing goes on
    let left = try store ?? directory.open()
    if store == nil { #expect(left.opening.found == .whole) }
    for number in 0..<100 { #expect(left.lookup("early \(number)")?.bytes == Self.body(number)) }
    for number in 0..<300 {
      if let hit = left.lookup("\(number)") { #expect(hit.bytes == Self.body(number)) }
    }
    left.write("after", [1])
    #expect(left.lookup("after")?.bytes == [1])
    #expect(left.statistics.damaged == 0)
  }

  @Test func `a child of fork finds nothing and harms nothing`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestFolder()
      let store = try directory.open()
      store.write("a", [1])
      precondition(!store.lookup("a").isMissing)
      let child = forkedInTime {
        let found = !store.lookup("a").isMissing
        let accepted = store.put("b", [1])
        store.remove(StoreKey("a"))
        store.flush()
        return found || accepted ? 1 : 0
      }
      precondition(child == 0)
      precondition(!store.lookup("a").isMissing)
      store.write("c", [1])
      precondition(store.statistics.entries == 2)
    }
  }

  /// Of 1 MiB, into which several times as much is put.
  @Test(arguments: [false, true])
  func `a file that may not grow loses what is old or does not fit, and nothing else`(atOnce: Bool)
    async throws
  {
    await #expect(processExitsWith: .success) { [atOnce = atOnce as Bool] in
      let directory = try TestFolder()
      let store = try directory.open()
      var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
      precondition(unsafe setrlimit(CInt(RLIMIT_FSIZE.rawValue), &limit) == 0)
      func fill() {
        for number in 0..<500 { store.put("\(number)", StoreProcessTests.body(number)) }
      }
      if atOnce {
        // Nobody else can write meanwhile, so that all of it waits.
        try store.core.environment.write { _ in fill() }
      } else {
        fill()
      }
      store.flush()
      let statistics = store.statistics
      precondition(statistics.entries > 10, "\(statistics)")
      precondition(statistics.dropped + statistics.evictions == 500 - statistics.entries, "\(statistics)")
      precondition((0..<500).count { !store.lookup("\($0)").isMissing } == statistics.entries)
      for number in 0..<500 {
        if let hit = store.lookup("\(number)") { precondition(hit.bytes == StoreProcessTests.body(number)) }
      }
      store.removeAll(namespace: "n")
      store.write("late", [1])
      precondition(store.lookup("late")?.bytes == [1], "late is missing")
    }
  }

  @Test func `a process whose files may have no length is refused a store, and not ended`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestFolder()
      var limit = rlimit(rlim_cur: 32 << 10, rlim_max: 32 << 10)
      precondition(unsafe setrlimit(CInt(RLIMIT_FSIZE.rawValue), &limit) == 0)
      do throws(NetworkError) {
        _ = try CacheStore.open(CacheStoreSettings(directory: directory.path))
        preconditionFailure("opened")
      } catch { precondition(error.code == .storageFull && error.underlying == .errno(EFBIG), "\(error)") }
    }
  }

  @Test(.notSanitized(.memoryIsNoMeasure))
  func `little address space is enough`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestFolder()
      var limit = rlimit(rlim_cur: 2 << 30, rlim_max: 2 << 30)
      precondition(unsafe setrlimit(CInt(RLIMIT_AS.rawValue), &limit) == 0)
      let store = try directory.open()
      store.write("a", [1])
      precondition(store.lookup("a")?.bytes == [1])
    }
  }
}
