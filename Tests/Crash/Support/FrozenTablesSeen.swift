#if DEBUG
@testable import NetSpool

/// The tables as they stand, read beside the store.
struct FrozenTablesSeen: Equatable {
  private(set) var rec: Set<UInt64> = []
  private(set) var body: Set<UInt64> = []
  private(set) var dedupe: Set<UInt64> = []
  private(set) var outbox: Set<UInt64> = []
  private(set) var dead: Set<UInt64> = []
  private(set) var remains: Set<UInt64> = []

  init(_ store: FrozenStore) throws {
    var settings = EnvironmentSettings(
      directory: store.settings.directory, layout: 2, isDisposable: false, isExclusive: true)
    settings.databasesMax = 9
    let environment = try Environment.open(settings)
    defer { environment.drop() }
    self = try environment.write { transaction throws(StoreError) in try FrozenTablesSeen(&transaction) }
  }

  private init(_ transaction: inout WriteTransaction) throws(StoreError) {
    func numbers(_ name: String, _ transaction: inout WriteTransaction) throws(StoreError) -> Set<UInt64> {
      var numbers: Set<UInt64> = []
      let table = try transaction.database(name)
      try transaction.forEach(in: table) { record in
        let isWhole = record.key.byteCount == 8
        // No request has the number 0: what does not belong here shows.
        numbers.insert(isWhole ? record.key.integer(at: 0, as: UInt64.self).byteSwapped : 0)
        return true
      }
      return numbers
    }
    rec = try numbers("rec", &transaction)
    body = try numbers("body", &transaction)
    outbox = try numbers("outbox", &transaction)
    dead = try numbers("dead", &transaction)
    remains = try numbers("remains", &transaction)
    var named: Set<UInt64> = []
    let table = try transaction.database("dedupe")
    try transaction.forEach(in: table) { record in
      named.insert(record.value.byteCount < 8 ? 0 : record.value.integer(at: 0, as: UInt64.self))
      return true
    }
    dedupe = named
  }

  /// The same requests in both tables that hold those that wait.
  var isConsistent: Bool {
    rec == body && dedupe.isSubset(of: rec) && remains.isSubset(of: dead)
      && rec.isDisjoint(with: outbox) && rec.isDisjoint(with: dead) && outbox.isDisjoint(with: dead)
  }
}
#endif
