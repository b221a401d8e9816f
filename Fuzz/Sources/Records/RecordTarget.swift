@testable import NetSpool

/// The frozen store's records, whole and damaged.
///
/// Input: a byte that chooses the kind, and the record. Bit 7: the checksum is put right first, as no accident
/// would do it; what stands behind must then hold all the same.
enum RecordTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choice = input.byte()
    let mends = choice & 0x80 != 0
    var record = Array(input.rest)
    switch choice & 0x7F % 5 {
    case 0:
      if mends { mend(&record, seed: number) }
      if let row = FrozenRow(number, decoding: record.rawBytes) { check(row) }
    case 1:
      if mends { mend(&record, seed: ~number) }
      if let ending = FrozenEnding(number, decoding: record.rawBytes) { check(ending) }
    case 2:
      if mends { mend(&record, seed: 0) }
      guard let meta = FrozenMeta(decoding: record.rawBytes) else { return }
      require(FrozenMeta(decoding: meta.encode().rawBytes) == meta, "meta is read back as it was")
    case 3: checkPayload(record)
    default: checkLetters(record)
    }
  }

  private static let number: UInt64 = 7
  static let now = ClockMoment(wall: 1_720_000_000_000_000, monotonic: 5_000_000)

  private static func mend(_ record: inout [UInt8], seed: UInt64) {
    guard record.count >= 8 else { return }
    let sum = Checksum.of(record.rawBytes.extracting(8..<record.count), seed: seed)
    for index in 0..<8 { record[index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
  }

  private static func check(_ row: FrozenRow) {
    var row = row
    row.dedupeKey = nil
    require(FrozenRow(number, decoding: row.encode(number).rawBytes) == row, "a row is read back as it was")
    checkPayload(row.payload)
  }

  private static func check(_ ending: FrozenEnding) {
    let again = FrozenEnding(number, decoding: ending.encode(number).rawBytes)
    require(again == ending, "an ending is read back as it was")
    checkLetters(ending.payload)
  }

  private static func checkPayload(_ bytes: [UInt8]) {
    guard let record = FrozenRecord(decoding: bytes.rawBytes, at: now) else { return }
    let again = FrozenRecord(decoding: record.encode(at: now).rawBytes, at: now)
    require(again == record, "a request is read back as it was")
    require(FrozenFacts(decoding: bytes.rawBytes, at: now) == record.facts, "so are its facts alone")
    live(record)
  }

  private static func checkLetters(_ bytes: [UInt8]) {
    if let outcome = FrozenOutcome(decoding: bytes.rawBytes) {
      require(FrozenOutcome(decoding: outcome.encode().rawBytes) == outcome, "an outcome is read back")
    }
    guard let letter = DeadLetter(decoding: bytes.rawBytes, at: now) else { return }
    require(DeadLetter(decoding: letter.encode(at: now).rawBytes, at: now) == letter, "a letter is read back")
    _ = letter.failure.description
  }

  /// Whatever its numbers say, it can be sent, fail, be left behind and be revived.
  private static func live(_ record: FrozenRecord) {
    let events: [FrozenEvent] =
      switch record.state {
      case .ready: [.launched(epoch: 3), .cancelled]
      case .inFlight:
        [
          .answered(status: 503, retryAfter: 1e9), .failed(.connectFailed, .notSent), .abandoned,
          .failed(.connectionLost, .maybeProcessed), .parked(.notSent), .answered(status: 200),
        ]
      case .dead: [.revived]
      case .done: []
      }
    for event in events {
      var next = record
      _ = next.handle(event, at: now, policy: .standard, random: 0.5)
      _ = (next.facts.wait(at: now, policy: .standard), next.facts.timeLeft(at: now))
      require(
        FrozenRecord(decoding: next.encode(at: now).rawBytes, at: now) != nil, "what it became can be stored")
    }
  }
}
