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

  /// Whether a whole row was written by a later release.
  static func isLater(_ value: RawSpan) -> Bool { value.byte(at: 8) > version }

  static func isWhole(_ value: RawSpan, _ number: UInt64) -> Bool {
    value.byteCount >= headerBytes
      && value.integer(at: 0, as: UInt64.self)
        == Checksum.of(value.extracting(8..<value.byteCount), seed: number)
  }

  /// Nil when a byte is not what was written.
  init?(_ number: UInt64, decoding value: RawSpan) {
    guard Self.isWhole(value, number), value.byte(at: 8) == Self.version else { return nil }
    lane = KeyDigest((value.integer(at: 16), value.integer(at: 24)))
    dedupe = value.byte(at: 9) == 0 ? nil : KeyDigest((value.integer(at: 40), value.integer(at: 48)))
    bodyBytes = Int(value.integer(at: 56, as: Int64.self))
    bodyChecksum = value.integer(at: 64)
    payload = [UInt8](value.extracting(Self.headerBytes..<value.byteCount))
  }

  func encode(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerBytes + payload.count)
    bytes.append(integer: UInt64(0))
    bytes.append(integer: UInt64(Self.version) | (dedupe == nil ? 0 : 1 << 8))
    bytes.append(integer: lane.first)
    bytes.append(integer: lane.second)
    bytes.append(integer: UInt64(0))
    bytes.append(integer: dedupe?.first ?? 0)
    bytes.append(integer: dedupe?.second ?? 0)
    bytes.append(integer: Int64(bodyBytes))
    bytes.append(integer: bodyChecksum)
    bytes += payload
    let checksum = Checksum.of(bytes.rawBytes.extracting(8..<bytes.count), seed: number)
    bytes.replace(integerAt: 0, with: checksum)
    return bytes
  }
}
