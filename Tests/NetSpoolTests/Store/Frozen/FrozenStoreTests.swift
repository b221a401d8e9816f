import Dispatch
import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport
@testable import netspool_crash

/// What is written, what is refused, and what is left after a restart.
struct FrozenStoreTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder(in: TestFiles.fast) }

  /// A program that lists a million requests must not stop those who send them.
  @Test func `a long look keeps no other from reading`() throws {
    let store = try directory.openFrozen()
    _ = store.write((1...1_500).map { FrozenChange.accept(.sample("payload \($0)"), body: []) })
    let reader = DispatchQueue(label: "tests.reader")
    var seen: [UInt64] = []
    try store.scan { number, _, _ in
      // The first look still lasts when the second begins and ends.
      if number == 1 { #expect(reader.sync { try? store.row(1) } != nil) }
      seen.append(number)
      return true
    }
    #expect(seen == Array(1...1_500))
  }

  // MARK: The life of a request

  @Test func `a postponed request is what it was postponed as`() throws {
    let store = try directory.openFrozen()
    let (one, two) = (try store.accept("one", body: [7]), try store.accept("two"))
    try store.write(.postpone(one, payload: Array("later, and longer".utf8)))
    #expect(try store.row(one)?.payload == Array("later, and longer".utf8))
    #expect(try store.row(two)?.payload == Array("two".utf8))
    #expect(try store.write(.attempt(one, payload: [])).body == [7])
    #expect(try FrozenTablesSeen(store).isConsistent)
  }

  @Test func `the dead may come back with their body`() throws {
    let store = try directory.openFrozen()
    let number = try store.accept("one", dedupe: "d", body: [9, 9])
    try store.write(.deadLetter(number, .sample("dead"), keepsBody: true))
    #expect(try FrozenTablesSeen(store).remains == [number])
    try store.write(.revive(number, .sample("again", dedupe: "d")))
    #expect(try store.write(.attempt(number, payload: [])).body == [9, 9])
    let seen = try FrozenTablesSeen(store)
    #expect(seen.dead.isEmpty && seen.remains.isEmpty && seen.dedupe == [number] && seen.isConsistent)
  }

  @Test func `a cancelled request leaves no body`() throws {
    let store = try directory.openFrozen()
    let number = try store.accept("one")
    try store.write(.deadLetter(number, .sample("dead"), keepsBody: false))
    #expect(try FrozenTablesSeen(store).remains.isEmpty)
    #expect(throws: NetworkError.self) { try store.write([.revive(number, .sample("again"))]).first?.get() }
    try store.write(.discard(number))
    #expect(try store.endings(.deadLetters).isEmpty)
  }

  @Test func `a dedupe key is one request at a time`() throws {
    let store = try directory.openFrozen()
    let first = try store.accept("one", dedupe: "d")
    let receipt = try store.write(.accept(.sample("two", dedupe: "d"), body: []))
    #expect(receipt.isDuplicate && receipt.number == first)
    #expect(try store.accept("three", dedupe: "other") == first + 1)
    try store.write(.finish(first, .sample("done")))
    #expect(try store.accept("four", dedupe: "d") == first + 2)
  }

  @Test func `many at once share commits`() throws {
    let store = try directory.openFrozen()
    let before = store.statistics
    var journal = FrozenJournal(store) { .now }
    for number in 0..<2_000 {
      let row = FrozenRow.sample("\(number)", lane: "\(number % 7)")
      journal.append(.accept(row, body: [1]), .caller { _, _ in })
    }
    let notices = journal.writeAll()
    #expect(try notices.map { try $0.result.get().number } == Array(1...2_000))
    let commits = store.statistics.commits - before.commits
    #expect(commits >= 2_000 / 256 && commits < 500)
    #expect(try FrozenTablesSeen(store).isConsistent)
  }

  @Test func `that an outcome was taken waits for another change to share a commit with`() throws {
    let store = try directory.openFrozen()
    var journal = FrozenJournal(store) { .now }
    // Given a store that has been swept, which is the first thing a journal does
    #expect(journal.write().count == 1 && !journal.isWaiting)
    let (began, before) = (MonotonicClock.now, store.statistics)
    #expect(journal.due > began + .second)
    journal.append(.acknowledge(1))
    #expect(journal.due >= began + 5_000 && journal.due <= MonotonicClock.now + 5_000)
    journal.append(.discard(2))
    #expect(journal.due <= began)
    _ = journal.write()
    #expect(!journal.isWaiting && journal.due > began + .second)
    #expect(store.statistics.commits - before.commits == 1 && store.statistics.changes - before.changes == 2)
  }

  /// Without a pause it would ask, and be told each time that the first is still there.
  @Test(.enabled(if: TinyDisk.isPossible))
  func `an equal request waits behind the end of the first for room on the disk`() throws {
    let disk = try #require(TinyDisk(mebibytes: 4))
    let store = try disk.directory.openFrozen { $0.retryPeriod = 0 }
    let number = try store.accept("one", dedupe: "d")
    var journal = FrozenJournal(store) { .now }
    _ = journal.write()
    // Given a disk without room for the end of a request
    try disk.fill()
    let ending = FrozenEnding.sample(String(repeating: "x", count: 1_500_000))
    journal.append(.deadLetter(number, ending, keepsBody: true), .caller { _, _ in })
    #expect(journal.writeAll().isEmpty && journal.isHolding)
    // When an equal one comes, then it is written with that
    journal.append(.accept(.sample("two", dedupe: "d"), body: []), .caller { _, _ in })
    // And one that comes later does not overtake it
    journal.append(.accept(.sample("three"), body: []), .caller { _, _ in })
    #expect(!journal.isWaiting)
    try disk.empty()
    let notices = journal.write()
    #expect(try notices.map { try $0.result.get().number } == [0, number + 1, number + 2])
  }

  // MARK: Earlier layouts

  @Test func `the lists of the first layout are taken out`() throws {
    // Given a file of the first layout, with two lists that nobody reads any more
    try directory.writeFrozen(layout: 1) { transaction throws(StoreError) in
      for name in ["lane", "due"] {
        let list = try transaction.database(name)
        for key in 0..<100 as Range<UInt64> {
          try transaction.put(
            [UInt8](repeating: 1, count: 100).rawBytes, at: RecordKey(ordered: key), in: list)
        }
      }
    }
    let store = try directory.openFrozen()
    #expect(store.opening.found == .whole)
    #expect(try store.accept("one") == 1)
    // Then they are gone
    try directory.writeFrozen { transaction throws(StoreError) in
      for name in ["lane", "due"] {
        let list = try transaction.database(name)
        #expect(try transaction.size(of: list).records == 0)
      }
    }
    #expect(try FrozenTablesSeen(store).isConsistent)
  }

  @Test func `numbers are not given twice when the note of them is damaged and nothing waits`() throws {
    let store = try directory.openFrozen()
    let number = try store.accept("one")
    try store.write(.finish(number, .sample("x")))
    try store.write(.acknowledge(number))
    store.close()
    try directory.writeFrozen { transaction throws(StoreError) in
      let meta = try transaction.database("meta")
      try transaction.put([UInt8](repeating: 7, count: 32).rawBytes, at: RecordKey(ordered: 0), in: meta)
    }
    #expect(try directory.openFrozen().accept("two") > number)
  }

  /// Numbers do not go on behind it, where there are hardly any left.
  @Test(arguments: ["rec", "outbox", "dead"])
  func `a key that no request ever had does no harm`(name: String) throws {
    let store = try directory.openFrozen()
    let number = try store.accept("one")
    store.close()
    try directory.writeFrozen { transaction throws(StoreError) in
      let table = try transaction.database(name)
      let key = RecordKey(ordered: 0xFFFF_FFFF_0000_0001)
      try transaction.put([UInt8](repeating: 7, count: 100).rawBytes, at: key, in: table)
    }
    for opening in 1...2 as ClosedRange<UInt64> {
      let store = try directory.openFrozen()
      #expect(try store.accept("next") == number + opening)
      store.close()
    }
  }

  // MARK: Refusals

  @Test func `what is not there is said`() throws {
    let store = try directory.openFrozen()
    for change: FrozenChange in [
      .attempt(7, payload: []), .postpone(7, payload: []), .finish(7, .sample("x")),
      .deadLetter(7, .sample("x"), keepsBody: true),
    ] { #expect(store.write([change]).first?.failure?.code == .storeCorrupt) }
  }

  @Test func `there is a limit of requests`() throws {
    let store = try directory.openFrozen { $0.recordsMax = 3 }
    let answers = store.write((0..<5).map { .accept(.sample("\($0)"), body: []) })
    #expect(answers.map { $0.failure?.code } == [nil, nil, nil, .queueFull, .queueFull])
    #expect(answers.suffix(2).map { $0.failure?.reason } == ["frozenRecords", "frozenRecords"])
    try store.write(.finish(1, .sample("x")))
    #expect(try store.accept("again") == 4)
  }

  @Test func `a full store still takes outcomes`() throws {
    let store = try directory.openFrozen { $0.bytesMax = 2 << 20 }
    // Given a store that takes no more
    var accepted: [UInt64] = []
    let body = [UInt8](repeating: 7, count: 20_000)
    while case .success(let receipt) = store.write([.accept(.sample("x"), body: body)])[0] {
      accepted.append(receipt.number)
    }
    #expect(store.write([.accept(.sample("x"), body: body)])[0].failure?.reason == "frozenBytes")
    #expect(store.statistics.bytes <= (2 << 20) / 100 * 85)
    #expect(accepted.count > 50)
    // When all come to their ends, with outcomes as large as they may be
    let outcome = FrozenEnding(
      endedAt: .now, payload: [UInt8](repeating: 1, count: 80_000))
    for (place, number) in accepted.enumerated() {
      #expect(store.write([.attempt(number, payload: [1])])[0].failure == nil)
      let change: FrozenChange =
        place % 2 == 0 ? .finish(number, outcome) : .deadLetter(number, outcome, keepsBody: true)
      #expect(store.write([change])[0].failure == nil)
    }
    // Then each is written, the map having grown for it
    #expect(store.statistics.growths > 0)
    #expect(try store.endings(.outcomes).count + store.endings(.deadLetters).count == accepted.count)
    #expect(try FrozenTablesSeen(store).isConsistent)
    // And there is room once they are taken
    _ = store.write(accepted.map { .acknowledge($0) })
    for number in accepted { try store.write(.discard(number)) }
    #expect(try store.accept("again") > accepted.last ?? 0)
  }

  @Test func `a large one takes nothing else with it`() throws {
    let store = try directory.openFrozen { $0.bytesMax = 2 << 20 }
    let large = [UInt8](repeating: 7, count: 3 << 20)
    let answers = store.write([
      .accept(.sample("a"), body: [1]), .accept(.sample("b"), body: large), .accept(.sample("c"), body: [2]),
    ])
    #expect(answers.map { $0.failure?.code } == [nil, .queueFull, nil])
    #expect(try store.numbers == [1, 2])
  }

  @Test func `a closed store says so`() throws {
    let store = try directory.openFrozen()
    store.close()
    store.close()
    #expect(store.write([.acknowledge(1)])[0].failure?.code == .engineClosed)
  }

  // MARK: What nobody comes for

  @Test func `old outcomes and letters go and are counted`() throws {
    let store = try directory.openFrozen { $0.keptRowsMax = 5 }
    let now = WallClock.microseconds
    for age in 0..<10 as Range<Microseconds> {
      let (done, dead) = (try store.accept("done"), try store.accept("dead"))
      try store.write(.finish(done, .sample("x", at: now - age * .day)))
      try store.write(.deadLetter(dead, .sample("x", at: now - age * .day), keepsBody: true))
    }
    try store.write(.sweep(ClockMoment(wall: now, monotonic: 0)))
    // The five oldest by number are too many, and those of the rest that are older than a week too old
    #expect(try store.endings(.outcomes).map { (now - $0.ending.endedAt.wall) / .day } == [5, 6, 7])
    #expect(try store.endings(.deadLetters).count == 3)
    #expect(store.statistics.dropped == 14)
    let seen = try FrozenTablesSeen(store)
    #expect(seen.remains == seen.dead)
  }

  /// Once by the clock of the machine, as long as it runs.
  @Test(arguments: [(boot: UInt64(7), isKept: true), (8, false)])
  func `a wall clock that is set throws nothing away`(boot: UInt64, isKept: Bool) throws {
    let store = try directory.openFrozen()
    let then = ClockMoment(wall: 5 * .second, monotonic: 90 * .second, boot: 7 << 16 | 7)
    let (done, dead) = (try store.accept("done"), try store.accept("dead"))
    try store.write(.finish(done, FrozenEnding(endedAt: then, payload: [1])))
    try store.write(.deadLetter(dead, FrozenEnding(endedAt: then, payload: [2]), keepsBody: true))
    let now = ClockMoment(wall: WallClock.microseconds, monotonic: 150 * .second, boot: 7 << 16 | boot)
    try store.write(.sweep(now))
    #expect(try store.endings(.outcomes).map(\.number) == (isKept ? [done] : []))
    #expect(try store.endings(.deadLetters).map(\.number) == (isKept ? [dead] : []))
    // And a week of it is a week
    try store.write(.sweep(ClockMoment(wall: 0, monotonic: 8 * .day, boot: now.boot)))
    #expect(try store.endings(.outcomes).isEmpty)
  }

  @Test func `what a later release wrote is not too old`() throws {
    var store = try directory.openFrozen()
    let done = try store.accept("done")
    try store.write(.finish(done, .sample("x")))
    store.close()
    var bytes = FrozenEnding.sample("x", at: 5).encode(done)
    bytes[8] = FrozenEnding.version + 1
    bytes.seal(seed: ~done)
    try directory.writeFrozen { transaction throws(StoreError) in
      let outbox = try transaction.database("outbox")
      try transaction.put(bytes.rawBytes, at: RecordKey(ordered: done), in: outbox)
    }
    store = try directory.openFrozen()
    try store.write(.sweep(.now))
    #expect(store.statistics.dropped == 0)
  }

  @Test func `all that is too much goes when a store is opened, however much it is`() throws {
    let store = try directory.openFrozen { $0.keptRowsMax = 5 }
    let count = 4_500
    store.write((0..<count).map { _ in .accept(.sample("dead"), body: []) })
    let now = WallClock.microseconds
    store.write(try store.numbers.map { .deadLetter($0, .sample("x", at: now), keepsBody: true) })
    var journal = FrozenJournal(store) { .now }
    // As often as it is due at once: the next one would be in an hour
    for _ in 0..<10 where journal.due <= MonotonicClock.now { _ = journal.write() }
    #expect(try store.endings(.deadLetters).count == 5)
    #expect(store.statistics.dropped == count - 5)
    #expect(journal.due > MonotonicClock.now + 60 * .second)
  }

  // MARK: Owners

  @Test func `there is one owner in a process`() throws {
    let store = try directory.openFrozen()
    let failure = #expect(throws: NetworkError.self) { _ = try directory.openFrozen() }
    #expect(failure?.code == .storeInUse)
    #expect(failure?.reason == "\(getpid())")
    _ = try store.accept("still there")
    store.close()
    #expect(try directory.openFrozen().numbers == [1])
  }

  @Test func `there is one owner among processes`() async throws {
    let path = directory.path
    let store = try directory.openFrozen()
    let parent = getpid()
    await #expect(processExitsWith: .success) { [path = path as String, parent = parent as Int32] in
      do throws(NetworkError) {
        _ = try FrozenStore.open(FrozenStoreSettings(directory: path))
        exit(1)
      } catch { precondition(error.code == .storeInUse && error.reason == "\(parent)", "\(error)") }
    }
    _ = try store.accept("still there")
  }

  @Test func `its files are its owner's alone`() throws {
    let store = try FrozenStore.open(FrozenStoreSettings(directory: directory["deep/frozen"]))
    _ = try store.accept("x")
    #expect(try directory.permissions("deep/frozen") == 0o700)
    for name in ["data.mdb", "lock.mdb", "stamp"] {
      #expect(try directory.permissions("deep/frozen/\(name)") == 0o600, "\(name)")
    }
  }
}

extension Result where Failure == NetworkError {
  var failure: NetworkError? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
