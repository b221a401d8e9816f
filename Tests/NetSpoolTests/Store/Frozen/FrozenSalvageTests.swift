import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport
@testable import netspool_crash

/// What was accepted is not lost because a page of its file is damaged, and no number is given twice.
struct FrozenSalvageTests {
  private static let pageBytes = Int(getpagesize())
  private static func body(_ number: UInt64) -> [UInt8] {
    Array("body \(number) ".utf8)
      + [UInt8](repeating: UInt8(number % 251), count: number % 10 == 0 ? 9_000 : 200)
  }

  /// A closed store with 100 requests that wait, from 3 on, an outcome and a dead letter.
  private func filled() throws -> TestFolder {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.openFrozen()
    for number: UInt64 in 1...102 {
      let dedupe = number % 7 == 0 ? "key \(number)" : nil
      #expect(try store.accept("payload \(number) ", dedupe: dedupe, body: Self.body(number)) == number)
    }
    try store.write(.attempt(1, payload: []))
    try store.write(.finish(1, .sample("outcome")))
    try store.write(.deadLetter(2, .sample("dead letter"), keepsBody: true))
    store.close()
    return directory
  }

  /// Whatever is there is what was written.
  private func check(_ store: FrozenStore) throws {
    for number in try store.numbers {
      let payload = Array("payload \(number) ".utf8)
      #expect(try store.row(number)?.payload == payload)
      #expect(try store.write(.attempt(number, payload: payload)).body == Self.body(number))
    }
    #expect(try FrozenTablesSeen(store).isConsistent)
  }

  @Test func `what is whole in a damaged file goes on`() throws {
    let directory = try filled()
    // Given a page of requests whose header is not what was written
    try directory.change { bytes in
      let text = Array("payload 50 ".utf8)
      let pages = Set(bytes.indices.filter { bytes[$0...].starts(with: text) }.map { $0 / Self.pageBytes })
      for page in pages { bytes[page * Self.pageBytes + 12] ^= 0xFF }
    }
    let store = try directory.openFrozen()
    // Then the file was moved aside, and the rest goes on
    guard case .damaged(let name, _) = store.opening.found else {
      Issue.record("opened as \(store.opening.found)")
      return
    }
    #expect(directory.badFiles == [name])
    let numbers = try store.numbers
    #expect(numbers.count >= 60 && numbers.count < 100 && !numbers.contains(50))
    // And what is lost is said by its number
    #expect(Set(store.damaged).union(numbers) == Set(3...102))
    try check(store)
    #expect(try store.endings(.outcomes).map(\.ending.payload) == [Array("outcome".utf8)])
    #expect(try store.endings(.deadLetters).map(\.number).contains(2))
    #expect(store.salvaged.found >= numbers.count + 2 && !store.salvaged.isDoubtful)
    // Also what keeps a request from being accepted twice
    let known = try #require(numbers.first { $0 % 7 == 0 })
    let again = FrozenChange.accept(.sample("x", dedupe: "key \(known)"), body: [])
    #expect(try store.write(again).number == known)
    #expect(try store.accept("new") > 102)
  }

  @Test(arguments: [0, 1]) func `with one meta page there is doubt, and every request`(page: Int) throws {
    let directory = try filled()
    try directory.change { bytes in bytes[page * Self.pageBytes + 16] ^= 1 }
    let store = try directory.openFrozen()
    #expect(store.salvaged.isDoubtful)
    #expect(Set(try store.numbers).isSuperset(of: Array(3...102)))
    try check(store)
  }

  /// Many commits, so that the file has many main trees, each of them once the newest.
  @Test(arguments: ["zeros", "noise", "magic"])
  func `without both meta pages every request is found, and none that was removed`(_ damage: String) throws {
    let directory = try filled()
    var store = try directory.openFrozen()
    for number: UInt64 in 3...60 {
      try store.write(.attempt(number, payload: []))
      try store.write(.finish(number, .sample("outcome")))
      try store.write(.acknowledge(number))
    }
    let (numbers, outcomes) = (try store.numbers, try store.endings(.outcomes).count)
    store.close()
    try directory.change { bytes in
      for page in 0..<2 {
        for index in (page * Self.pageBytes)..<((page + 1) * Self.pageBytes) {
          switch damage {
          case "zeros": bytes[index] = 0
          case "noise": bytes[index] = UInt8.random(in: 0...255)
          default: if index % Self.pageBytes == 16 { bytes[index] ^= 1 }
          }
        }
        // Not one that says the old root of another file's.
        if damage == "magic" { bytes[page * Self.pageBytes + 88 + 40] ^= 0xFF }
      }
    }
    store = try directory.openFrozen()
    #expect(store.salvaged.isDoubtful)
    #expect(try store.numbers == numbers && numbers == Array(61...102))
    #expect(try store.endings(.outcomes).count == outcomes)
    #expect(try store.endings(.deadLetters).map(\.number).contains(2))
    try check(store)
    #expect(try store.accept("new") > 102)
  }

  @Test func `an end in mid-salvage loses nothing`() throws {
    let directory = try filled()
    try directory.change { bytes in bytes[16] ^= 1 }
    var store = try directory.openFrozen()
    let numbers = try store.numbers
    store.close()
    // Given a process that was killed before it had looked through the file, with and without a part of the new one
    for isNewGone in [false, true] {
      let name = try #require(directory.badFiles.first)
      #expect(unsafe rename(directory[name], directory[name + ".unread"]) == 0)
      if isNewGone { unsafe unlink(directory["data.mdb"]) }
      store = try directory.openFrozen()
      #expect(try store.numbers == numbers)
      #expect(directory.badFiles == [name])
      store.close()
    }
  }

  /// Five in a row, while LMDB is opened or while the tables are looked through: a process that is killed as soon as
  /// it starts says nothing about the file. Processes at work are killed in `NetSpoolCrashTests`.
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

  @Test func `openings that never ended cost no request`() throws {
    let directory = try filled()
    var stamp = EnvironmentStamp(layout: FrozenTables.layout, state: .opening)
    stamp.brokenOpenings = 16
    try directory.write("stamp", stamp.encode())
    let store = try directory.openFrozen()
    #expect(try store.numbers == Array(3...102))
    #expect(!store.salvaged.isDoubtful)
    try check(store)
  }

  @Test func `numbers are not given twice when nothing is left of a file`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    var given: Set<UInt64> = []
    for round in 0..<4 {
      let store = try directory.openFrozen()
      // A file that was cut to nothing is a damaged store, and not none
      #expect((store.opening.found.damage != nil) == (round > 0))
      for _ in 0..<3 { #expect(given.insert(try store.accept("one")).inserted) }
      store.close()
      try directory.write("data.mdb", round % 2 == 0 ? [] : [UInt8](repeating: 7, count: 9_000))
    }
  }

  @Test func `an empty file that was just being made is no damage`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    try directory.write("stamp", EnvironmentStamp(layout: FrozenTables.layout, state: .opening).encode())
    try directory.write("data.mdb", [])
    #expect(try directory.openFrozen().opening.found == .nothing)
    #expect(directory.badFiles.isEmpty)
  }

  @Test func `every damaged file is kept`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    for round: UInt8 in 0..<6 {
      try directory.write("data.mdb", [UInt8](repeating: round, count: 100))
      try directory.openFrozen().close()
    }
    #expect(Set(try directory.badFiles.map { try directory.read($0).first }) == [0, 1, 2, 3, 4, 5])
  }
}
