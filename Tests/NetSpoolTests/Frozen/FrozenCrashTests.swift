import Dispatch
import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport
@testable import netspool_crash

/// Processes that are killed: what they said was accepted is there afterwards.
struct FrozenCrashTests {
  /// What a child does: accepts requests, lets some of them come to an end, and says in a file what it was told,
  /// after it was told.
  private static func work(_ path: String, rounds: Int = .max, killedAt: Int = .max) throws {
    let store = try FrozenStore.open(FrozenStoreSettings(directory: path))
    let file = unsafe open(path + "/said", O_WRONLY | O_APPEND | O_CREAT, 0o600)
    var next: [FrozenChange] = []
    for round in 0..<rounds {
      let row = FrozenRow.sample("payload \(round)", lane: "\(round % 3)")
      next.append(.accept(row, body: Array("body \(round)".utf8)))
      if round == killedAt { DispatchQueue.global().async { kill(getpid(), SIGKILL) } }
      // Alone, or several in one commit
      if round % 20 < 10 || round % 5 == 0 { next = commit(next, store, file) }
    }
    while !next.isEmpty { next = commit(next, store, file) }
    _ = store.write([.sweep(nowWall: WallClock.microseconds)])
    store.close()
    close(file)
  }

  /// Returns what follows from the answers.
  private static func commit(_ changes: [FrozenChange], _ store: FrozenStore, _ file: Int32) -> [FrozenChange]
  {
    var next: [FrozenChange] = []
    for (change, answer) in zip(changes, store.write(changes)) {
      guard let number = try? answer.get().number else { continue }
      switch change {
      case .accept:
        say("A \(number)\n", file)
        guard number % 3 == 0 else { continue }
        next += [.attempt(number, payload: [1]), .finish(number, .sample("outcome \(number)"))]
      case .finish:
        say("F \(number)\n", file)
        if number % 2 == 0 { next.append(.acknowledge(number)) }
      default: break
      }
    }
    return next
  }

  private static func say(_ line: String, _ file: Int32) { _ = unsafe write(file, line, line.utf8.count) }

  private static func check(_ directory: TestFolder) throws {
    let said = String(decoding: (try? directory.read("said")) ?? [], as: UTF8.self).split(separator: "\n")
    let store = try directory.openFrozen()
    #expect(store.damaged.isEmpty)
    let waiting = Set(try store.numbers)
    let outcomes = Set(try store.endings(.outcomes).map(\.number))
    #expect(waiting.isDisjoint(with: outcomes))
    for line in said {
      let number = try #require(UInt64(line.dropFirst(2)))
      let isThere = waiting.contains(number) || outcomes.contains(number)
      // What was acknowledged may be gone.
      let mayBeGone = number % 6 == 0
      if line.hasPrefix("A") { #expect(isThere || mayBeGone, "lost \(number)") }
      if line.hasPrefix("F") { #expect(outcomes.contains(number) || mayBeGone, "lost outcome \(number)") }
    }
    #expect(try FrozenTablesSeen(store).isConsistent)
    for number in waiting.sorted().prefix(20) {
      let body = try store.write(.attempt(number, payload: [])).body
      #expect(String(decoding: body, as: UTF8.self).hasPrefix("body "))
    }
  }

  /// Killed while it writes.
  @Test(arguments: [40, 700]) func `what was accepted survives a kill`(round: Int) async throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let path = directory.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
      try FrozenCrashTests.work(path, killedAt: round)
    }
    try Self.check(directory)
  }

  /// Those that a store passes without an engine.
  private static let places: [Failpoint] = [
    .beforeAcceptCommit, .afterAcceptCommit, .beforeAttemptCommit, .afterAttemptCommit, .beforeOutcomeCommit,
    .afterOutcomeCommit, .beforeAckCommit, .afterAckCommit, .duringRecovery, .duringCompaction,
  ]

  /// Killed at each of the places that are named, the first time and later.
  @Test(arguments: places, LongRun.isOn ? Array(1...50) : [2]) func `no place is a bad one`(
    place: Failpoint, pass: Int
  ) async throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let path = directory.path
    let armed = "\(place.rawValue):\(pass)"
    if place == .duringRecovery || place == .duringCompaction {
      let store = try directory.openFrozen()
      for number in 0..<10 { _ = try store.accept("payload \(number)", body: Array("body \(number)".utf8)) }
      store.close()
    }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, armed = armed as String] in
      unsafe setenv("NETSPOOL_FAILPOINT", armed, 1)
      for _ in 0..<3 { try FrozenCrashTests.work(path, rounds: 200) }
    }
    try Self.check(directory)
  }

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
