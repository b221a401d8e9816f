import Testing

@testable import NetSpool
@testable import TestSupport

extension TestFolder {
  func openFrozen(_ change: (inout FrozenStoreSettings) -> Void = { _ in }) throws -> FrozenStore {
    var settings = FrozenStoreSettings(directory: path)
    settings.bytesMax = 64 << 20
    change(&settings)
    return try FrozenStore.open(settings)
  }

  /// Writes to the file of a frozen store, beside the store.
  func writeFrozen<Value>(
    layout: UInt32 = FrozenTables.layout, _ body: (inout WriteTransaction) throws(StoreError) -> Value
  ) throws -> Value {
    var settings = EnvironmentSettings(
      directory: path, layout: layout, isDisposable: false, isExclusive: true)
    settings.databasesMax = 9
    let environment = try Environment.open(settings)
    defer { environment.drop() }
    return try environment.write(body)
  }
}

extension FrozenJournal {
  /// Writes all that waits, due or not.
  mutating func writeAll() -> [FrozenNotice] {
    var notices: [FrozenNotice] = []
    while isWaiting { notices += writeBatch() }
    return notices
  }
}

extension FrozenStore {
  /// Has changes written together. The disk has room for all that may not fail.
  @discardableResult
  func write(_ changes: [FrozenChange]) -> [FrozenAnswer] {
    commit(changes).map { $0 ?? .failure(NetworkError(.storageFull)) }
  }

  @discardableResult
  func write(_ change: FrozenChange) throws -> FrozenReceipt { try #require(write([change]).first).get() }

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
    FrozenEnding(endedAt: ClockMoment(wall: wall, monotonic: 0), payload: Array(text.utf8))
  }
}
