/// From when on what is asked for is to be believed: what changed a resource makes worthless what was asked for before,
/// also what is still on its way. Moments are those of the machine's own clock, which all processes share.
struct Fences: Sendable {
  /// By resource (`StoreKey.resource`).
  private var moments: [UInt64: Microseconds] = [:]
  /// Of all resources.
  private var common = Microseconds.min

  /// More are not told apart: then all that is on its way counts as asked for too early.
  static let resourcesMax = 4_096

  mutating func add(_ resource: UInt64, at moment: Microseconds) {
    if moments.count >= Self.resourcesMax { addAll(at: moment) }
    moments[resource] = moment
  }

  mutating func addAll(at moment: Microseconds) {
    moments.removeAll()
    common = moment
  }

  /// Where a store tells of its changes, and that of all resources.
  static func keys(of resource: UInt64) -> [UInt64] { [all, resource] }
  static let all: UInt64 = 0

  /// What it tells; nil for one of the future, which comes from before the machine was started.
  static func moment(_ value: RawSpan) -> Microseconds? {
    guard value.byteCount == 8 else { return nil }
    let moment: Microseconds = value.integer(at: 0)
    return moment <= MonotonicClock.now ? moment : nil
  }

  var isEmpty: Bool { moments.isEmpty && common == .min }

  /// What was asked for at a moment is older than the last change.
  func holdBack(_ resource: UInt64, askedAt moment: Microseconds) -> Bool {
    if moment <= common { return true }
    guard !moments.isEmpty, let last = moments[resource] else { return false }
    return moment <= last
  }
}

extension CacheWriter {
  /// Removes all that is stored of a resource, and notes when.
  mutating func fence(
    _ resource: UInt64, at moment: Microseconds, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    var keys: [KeyDigest] = []
    try transaction.forEach(from: KeyDigest.first(of: resource).recordKey, in: databases.entries) { record in
      guard let key = KeyDigest(record.key), key.first == resource else { return false }
      keys.append(key)
      return true
    }
    for key in keys { try remove(key, &transaction) }
    try note(moment, resource, &transaction)
  }

  /// The same for all resources, but removes nothing.
  mutating func fenceAll(at moment: Microseconds, _ transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.removeAll(in: databases.fences)
    try note(moment, Fences.all, &transaction)
  }

  private mutating func note(
    _ moment: Microseconds, _ resource: UInt64, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    if try transaction.size(of: databases.fences).records >= Fences.resourcesMax {
      // Some of those that go may be younger.
      try fenceAll(at: MonotonicClock.now, &transaction)
    }
    // Another process may have come to write a younger one before.
    let youngest = max(moment, try fenceMoment(of: resource, transaction) ?? moment)
    scratch.removeAll(keepingCapacity: true)
    scratch.append(integer: youngest)
    try transaction.put(scratch.rawBytes, at: RecordKey(integer: resource), in: databases.fences)
  }

  /// True if what was asked for at a moment is older than a change of which another process has told.
  func holdsBack(
    _ resource: UInt64, askedAt moment: Microseconds, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Bool {
    guard moment != .max, try transaction.size(of: databases.fences).records > 0 else { return false }
    for key in Fences.keys(of: resource) {
      if let fence = try fenceMoment(of: key, transaction), moment <= fence { return true }
    }
    return false
  }

  private func fenceMoment(
    of resource: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Microseconds? {
    guard let value = try transaction.value(at: RecordKey(integer: resource), in: databases.fences) else {
      return nil
    }
    return Fences.moment(value)
  }
}
