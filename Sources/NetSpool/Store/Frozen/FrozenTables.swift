/// The databases of a frozen store. Keys are numbers of requests, big-endian, unless said otherwise:
///
///   meta     0 -> `FrozenMeta`
///   rec      -> `FrozenRow`: what waits or is in flight
///   body     -> its bytes; apart, so that a change of state does not write them again
///   dedupe   16 bytes of digest -> number u64 little-endian, full key
///   outbox   -> `FrozenEnding`: outcomes that no caller has taken yet
///   dead     -> `FrozenEnding`: what will not be sent any more
///   remains  -> bodies of the dead that may be revived or looked into
///
/// `rec` and `body` always hold the same requests.
struct FrozenTables: Sendable {
  /// Counts up with every change of what is in the file. 2: the lists `lane` and `due`, which no code reads, are gone.
  static let layout: UInt32 = 2
  /// Databases that only earlier layouts have.
  static let former = ["lane", "due"]

  let meta: Database
  let rec: Database
  let body: Database
  let dedupe: Database
  let outbox: Database
  let dead: Database
  let remains: Database
  /// By their names.
  let all: [String: Database]

  init(_ transaction: inout WriteTransaction) throws(StoreError) {
    meta = try transaction.database("meta")
    rec = try transaction.database("rec")
    body = try transaction.database("body")
    dedupe = try transaction.database("dedupe")
    outbox = try transaction.database("outbox")
    dead = try transaction.database("dead")
    remains = try transaction.database("remains")
    all = [
      "meta": meta, "rec": rec, "body": body, "dedupe": dedupe, "outbox": outbox, "dead": dead,
      "remains": remains,
    ]
  }

  func usedPages(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Int {
    var pages = 0
    for database in all.values { pages += try transaction.size(of: database).pages }
    return pages
  }
}

// The one record of the database `meta`, 32 bytes, integers little-endian:
//
//    0  8  checksum of everything behind it
//    8  8  the number of the next request
//   16  4  how many times the store was opened
//   20  4  0
//   24  8  rows that were dropped because nobody came for them

/// What a frozen store knows of itself.
struct FrozenMeta: Sendable, Equatable {
  static let bytes = 32

  /// Begins with 1, and only grows.
  var nextNumber: UInt64 = 1
  var epoch: UInt32 = 0
  var dropped: UInt64 = 0

  init() {}

  /// Nil when a byte is not what was written.
  init?(decoding value: RawSpan) {
    guard value.byteCount == Self.bytes, Checksum.leads(value) else { return nil }
    nextNumber = value.integer(at: 8)
    epoch = value.integer(at: 16)
    dropped = value.integer(at: 24)
  }

  func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.bytes)
    bytes.append(integer: UInt64(0))
    bytes.append(integer: nextNumber)
    bytes.append(integer: UInt64(epoch))
    bytes.append(integer: dropped)
    bytes.seal()
    return bytes
  }
}

// The value of a record in the database `rec`. Integers little-endian:
//
//    0  8  checksum of everything behind it, begun with the number
//    8  1  version: 1
//    9  1  1: it has a place in `dedupe`
//   10  6  0
//   16 16  lane
//   32  8  0; anything in rows of layout 1
//   40 16  its place in `dedupe`
//   56  8  bytes of the body
//   64  8  checksum of the body
//   72     what the owner keeps there: state and request

/// A request as the store sees it: what is sent and when is the owner's business.
struct FrozenRow: Sendable, Equatable {
  var lane: KeyDigest
  var payload: [UInt8]
  /// A second request with the same key is the first one; only looked at when it is accepted.
  var dedupeKey: [UInt8]?
  var dedupe: KeyDigest?
  var bodyBytes = 0
  var bodyChecksum: UInt64 = 0

  init(lane: KeyDigest, dedupeKey: [UInt8]? = nil, payload: [UInt8]) {
    self.lane = lane
    self.dedupeKey = dedupeKey
    self.payload = payload
    dedupe = dedupeKey.map { StoreKey($0).digest }
  }

  static let headerBytes = 72
  static let version: UInt8 = 1

  /// True if a whole row was written by a later release.
  static func isLater(_ value: RawSpan) -> Bool { value.byte(at: 8) > version }

  static func isWhole(_ value: RawSpan, _ number: UInt64) -> Bool {
    value.byteCount >= headerBytes && Checksum.leads(value, seed: number)
  }

  /// Nil when a byte is not what was written.
  init?(_ number: UInt64, decoding value: RawSpan) {
    guard Self.isWhole(value, number), value.byte(at: 8) == Self.version,
      let bodyBytes = Int(exactly: value.integer(at: 56, as: UInt64.self))
    else { return nil }
    self.bodyBytes = bodyBytes
    lane = KeyDigest((value.integer(at: 16), value.integer(at: 24)))
    dedupe = value.byte(at: 9) == 0 ? nil : KeyDigest((value.integer(at: 40), value.integer(at: 48)))
    bodyChecksum = value.integer(at: 64)
    payload = [UInt8](value.extracting(Self.headerBytes..<value.byteCount))
  }

  func encode(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerBytes + payload.count)
    bytes.append(words: [
      0, UInt64(Self.version) | (dedupe == nil ? 0 : 1 << 8), lane.first, lane.second, 0,
      dedupe?.first ?? 0, dedupe?.second ?? 0, UInt64(bodyBytes), bodyChecksum,
    ])
    bytes += payload
    bytes.seal(seed: number)
    return bytes
  }
}

extension WriteTransaction {
  /// A copy of the value at a key, nil when there is none.
  func bytes(at key: RecordKey, in database: Database) throws(StoreError) -> [UInt8]? {
    guard let value = try value(at: key, in: database) else { return nil }
    return [UInt8](value)
  }

  func bytes(_ number: UInt64, in database: Database) throws(StoreError) -> [UInt8]? {
    try bytes(at: RecordKey(ordered: number), in: database)
  }
}
