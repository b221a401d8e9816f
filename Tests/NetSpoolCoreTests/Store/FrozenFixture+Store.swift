import Dispatch
import NetSpoolCore
import Synchronization
import Testing

extension StoreDirectory {
  func openFrozen(_ change: (inout FrozenStoreSettings) -> Void = { _ in }) throws -> FrozenStore {
    var settings = FrozenStoreSettings(directory: path)
    settings.bytesMax = 64 << 20
    change(&settings)
    return try FrozenStore.open(settings)
  }
}

/// What the store thread answered, for a test that waits.
final class Answers: Sendable {
  private let answers = Mutex<[Result<FrozenReceipt, Failure>]>([])

  func add(_ answer: Result<FrozenReceipt, Failure>) { answers.withLock { $0.append(answer) } }
  var all: [Result<FrozenReceipt, Failure>] { answers.withLock { $0 } }
}

extension FrozenStore {
  /// Has changes written together, and waits.
  func write(_ changes: [FrozenChange]) -> [Result<FrozenReceipt, Failure>] {
    let answers = Answers()
    let done = DispatchSemaphore(value: 0)
    let countdown = Countdown(changes.count) { done.signal() }
    for change in changes {
      submit(change) { answer in
        answers.add(answer)
        countdown.signal()
      }
    }
    done.wait()
    return answers.all
  }

  @discardableResult
  func write(_ change: FrozenChange) throws -> FrozenReceipt {
    try #require(write([change]).first).get()
  }

  func accept(_ text: String, lane: String = "a", dedupe: String? = nil, body: [UInt8]? = nil) throws
    -> UInt64
  {
    try write(.accept(.sample(text, lane: lane, dedupe: dedupe), body: body ?? Array(text.utf8))).number
  }

  var numbers: [UInt64] {
    get throws {
      var numbers: [UInt64] = []
      try scan { number, _, _ in
        numbers.append(number)
        return true
      }
      return numbers
    }
  }
}

extension FrozenRow {
  static func sample(_ text: String, lane: String = "a", dedupe: String? = nil) -> FrozenRow {
    let key = LaneKey(lane)
    return FrozenRow(
      lane: KeyDigest((key.first, key.second)), dedupeKey: dedupe.map { Array($0.utf8) },
      payload: Array(text.utf8))
  }
}

extension FrozenEnding {
  static func sample(_ text: String, at wall: Int64 = WallClock.microseconds) -> FrozenEnding {
    FrozenEnding(endedWall: wall, payload: Array(text.utf8))
  }
}

/// The tables as they stand, read beside the store.
struct FrozenTablesSeen: Equatable {
  var rec: Set<UInt64> = []
  var body: Set<UInt64> = []
  var lane: Set<UInt64> = []
  var due: Set<UInt64> = []
  var dedupe: Set<UInt64> = []
  var outbox: Set<UInt64> = []
  var dead: Set<UInt64> = []
  var remains: Set<UInt64> = []

  init(_ store: FrozenStore) throws {
    var settings = EnvironmentSettings(
      directory: store.settings.directory, layout: 1, isDisposable: false, isExclusive: true)
    settings.databasesMax = 9
    let environment = try Environment.open(settings)
    defer { environment.drop() }
    self = try environment.write { transaction throws(StoreError) in try FrozenTablesSeen(&transaction) }
  }

  private init(_ transaction: inout WriteTransaction) throws(StoreError) {
    func numbers(_ name: String, at offset: Int, _ transaction: inout WriteTransaction) throws(StoreError)
      -> Set<UInt64>
    {
      var numbers: Set<UInt64> = []
      let table = try transaction.database(name)
      try transaction.forEach(in: table) { record in
        numbers.insert(record.key.integer(at: offset, as: UInt64.self).byteSwapped)
        return true
      }
      return numbers
    }
    rec = try numbers("rec", at: 0, &transaction)
    body = try numbers("body", at: 0, &transaction)
    lane = try numbers("lane", at: 16, &transaction)
    due = try numbers("due", at: 8, &transaction)
    outbox = try numbers("outbox", at: 0, &transaction)
    dead = try numbers("dead", at: 0, &transaction)
    remains = try numbers("remains", at: 0, &transaction)
    var named: Set<UInt64> = []
    let table = try transaction.database("dedupe")
    try transaction.forEach(in: table) { record in
      named.insert(record.value.integer(at: 0, as: UInt64.self))
      return true
    }
    dedupe = named
  }

  /// The same requests in all tables that hold those that wait.
  var isConsistent: Bool {
    rec == body && rec == lane && rec == due && dedupe.isSubset(of: rec) && remains.isSubset(of: dead)
      && rec.isDisjoint(with: outbox) && rec.isDisjoint(with: dead) && outbox.isDisjoint(with: dead)
  }
}
