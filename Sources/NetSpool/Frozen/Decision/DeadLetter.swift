// The bytes of a dead letter: reason u8, 1 when the outcome is unknown u8, 1 when it halts its lane u8, 0 u8,
// time of death in microseconds since 1970 i64, little-endian; then those of the record, which are missing when
// they were damaged.

/// A frozen request that will not be sent any more, with the reason.
struct DeadLetter: Sendable, Hashable {
  var death: FrozenDeath
  /// Its lane waits until it is revived or discarded.
  var haltsLane: Bool
  var diedWall: Microseconds
  /// Nil when its bytes were not what was written.
  var record: FrozenRecord?

  init(_ death: FrozenDeath, haltsLane: Bool = false, diedWall: Microseconds, record: FrozenRecord?) {
    self.death = death
    self.haltsLane = haltsLane
    self.diedWall = diedWall
    self.record = record
  }

  private static let prefixBytes = 12

  func encode(at now: FrozenMoment) -> [UInt8] {
    var bytes: [UInt8] = [death.reason.rawValue, death.isOutcomeUnknown ? 1 : 0, haltsLane ? 1 : 0, 0]
    bytes.append(integer: diedWall)
    if let record { bytes += record.encode(at: now) }
    return bytes
  }

  init?(decoding bytes: RawSpan, at now: FrozenMoment) {
    guard bytes.byteCount >= Self.prefixBytes, let reason = FrozenDeath.Reason(rawValue: bytes.byte(at: 0))
    else { return nil }
    let death = FrozenDeath(reason, isOutcomeUnknown: bytes.byte(at: 1) != 0)
    let rest = bytes.extracting(Self.prefixBytes..<bytes.byteCount)
    let record = rest.isEmpty ? nil : FrozenRecord(decoding: rest, at: now)
    if !rest.isEmpty && record == nil { return nil }
    self.init(death, haltsLane: bytes.byte(at: 2) != 0, diedWall: bytes.integer(at: 4), record: record)
  }

  var failure: NetworkError { death.failure(record) }
}
