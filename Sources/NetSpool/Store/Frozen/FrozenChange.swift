/// A durable step in the life of a request. Each is written whole or not at all.
enum FrozenChange: Sendable {
  /// A request comes in: it gets its number.
  case accept(FrozenRow, body: [UInt8])
  /// An attempt is about to be made; its body is read.
  case attempt(UInt64, payload: [UInt8])
  /// The request waits again.
  case postpone(UInt64, payload: [UInt8])
  /// The request has its outcome, which is kept until it is acknowledged.
  case finish(UInt64, FrozenEnding)
  /// The request will not be sent any more. `keepsBody`: it may be revived.
  case deadLetter(UInt64, FrozenEnding, keepsBody: Bool)
  /// A dead letter says something else; nothing happens when it is gone.
  case amend(UInt64, FrozenEnding)
  /// The outcome was taken.
  case acknowledge(UInt64)
  /// A dead one waits again.
  case revive(UInt64, FrozenRow)
  /// A dead one is forgotten.
  case discard(UInt64)
  /// Removes outcomes and dead letters that are too old or too many.
  case sweep(ClockMoment)

  /// Needs more room than it gives back; what ends a request never does for long.
  var isAcceptance: Bool { if case .accept = self { true } else { false } }

  /// May wait a little for another change to share its commit with: only an engine that leaves waits for it.
  var isPatient: Bool { if case .acknowledge = self { true } else { false } }

  /// Nothing was promised yet, so it may fail when the disk is full; everything else is tried again.
  var mayFail: Bool {
    switch self {
    case .accept, .attempt, .revive: true
    default: false
    }
  }

  var bytes: Int {
    switch self {
    case .accept(let row, let body): row.payload.count + body.count
    case .attempt(_, let payload), .postpone(_, let payload): payload.count
    case .finish(_, let ending), .deadLetter(_, let ending, _), .amend(_, let ending): ending.payload.count
    case .revive(_, let row): row.payload.count
    case .acknowledge, .discard, .sweep: 0
    }
  }

  /// Passed before its commit, and after it.
  var failpoints: (before: Failpoint?, after: Failpoint?) {
    switch self {
    case .accept: (.beforeAcceptCommit, .afterAcceptCommit)
    case .attempt: (.beforeAttemptCommit, .afterAttemptCommit)
    case .postpone, .finish, .deadLetter: (.beforeOutcomeCommit, .afterOutcomeCommit)
    case .acknowledge, .amend: (.beforeAckCommit, .afterAckCommit)
    case .sweep: (.duringCompaction, nil)
    case .revive, .discard: (nil, nil)
    }
  }
}

/// The answer to a change that is on the disk.
struct FrozenReceipt: Sendable, Equatable {
  /// Of the request that was accepted.
  var number: UInt64 = 0
  /// Nothing was accepted: this is the number of the request with the same dedupe key.
  var isDuplicate = false
  /// The body of the request, when an attempt was recorded.
  var body: [UInt8] = []
  /// Numbers that a sweep has taken out.
  var removed: [UInt64] = []
  /// A sweep has left some for the next.
  var hasLeftSome = false
}

/// What became of a change.
typealias FrozenAnswer = Result<FrozenReceipt, NetworkError>

// The value of a record in the databases `outbox` and `dead`. Integers little-endian:
//
//    0  8  checksum of everything behind it, begun with the number
//    8  1  version: 1
//    9  1  1: the payload is a row of `rec` that was not what had been written
//   10  2  the boot in which it came here, as far as two bytes tell; 0: not known
//   12  4  when, in seconds of that boot
//   16  8  the same in microseconds since 1970
//   24     what the owner keeps there: outcome, or request and reason

/// What came of a request.
struct FrozenEnding: Sendable, Equatable {
  /// The moment at which it came here, in whole seconds of the clock of the boot.
  let endedAt: ClockMoment
  /// The payload is damaged bytes, kept for diagnosis.
  var isDamaged = false
  var payload: [UInt8]

  init(endedAt: ClockMoment, isDamaged: Bool = false, payload: [UInt8]) {
    let seconds = UInt32(clamping: endedAt.monotonic / .second)
    self.endedAt = ClockMoment(
      wall: endedAt.wall, monotonic: Microseconds(seconds) * .second, boot: endedAt.boot & 0xFFFF)
    (self.isDamaged, self.payload) = (isDamaged, payload)
  }

  static let headerBytes = 24
  static let version: UInt8 = 1

  /// The clock that cannot be set counts within one boot, the other one over a reboot.
  func age(at now: ClockMoment) -> Microseconds {
    var here = now
    here.boot &= 0xFFFF
    guard here.isSameBoot(as: endedAt), endedAt.monotonic <= now.monotonic else {
      return now.wall - endedAt.wall
    }
    return now.monotonic - endedAt.monotonic
  }
}

extension FrozenEnding {
  /// Nil when a byte is not what was written.
  init?(_ number: UInt64, decoding value: RawSpan) {
    guard value.byteCount >= Self.headerBytes, value.byte(at: 8) == Self.version,
      Checksum.leads(value, seed: ~number)
    else { return nil }
    let moment = ClockMoment(
      wall: value.integer(at: 16), monotonic: Microseconds(value.integer(at: 12, as: UInt32.self)) * .second,
      boot: UInt64(value.integer(at: 10, as: UInt16.self)))
    self.init(
      endedAt: moment, isDamaged: value.byte(at: 9) != 0,
      payload: [UInt8](value.extracting(Self.headerBytes..<value.byteCount)))
  }

  func encode(_ number: UInt64) -> [UInt8] {
    let seconds = UInt64(endedAt.monotonic / .second)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerBytes + payload.count)
    bytes.append(integer: UInt64(0))
    bytes.append(
      integer: UInt64(Self.version) | (isDamaged ? 1 << 8 : 0) | endedAt.boot << 16 | seconds << 32)
    bytes.append(integer: endedAt.wall)
    bytes += payload
    bytes.seal(seed: ~number)
    return bytes
  }
}
