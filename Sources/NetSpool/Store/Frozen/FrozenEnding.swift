// The value of a record in the databases `outbox` and `dead`. Integers little-endian:
//
//    0  8  checksum of everything behind it, begun with the number
//    8  1  version: 1
//    9  1  1: the payload is a row of `rec` that was not what had been written
//   10  6  0
//   16  8  when it came here, microseconds since 1970
//   24     what the owner keeps there: outcome, or request and reason

/// What came of a request.
struct FrozenEnding: Sendable, Equatable {
  var endedWall: Int64
  /// The payload is damaged bytes, kept for whoever wants to know what happened.
  var isDamaged = false
  var payload: [UInt8]

  init(endedWall: Int64, payload: [UInt8]) {
    self.endedWall = endedWall
    self.payload = payload
  }

  static let headerBytes = 24
  static let version: UInt8 = 1

  /// Nil when a byte is not what was written.
  init?(_ number: UInt64, decoding value: RawSpan) {
    guard value.byteCount >= Self.headerBytes, value.byte(at: 8) == Self.version,
      value.integer(at: 0, as: UInt64.self)
        == Checksum.of(value.extracting(8..<value.byteCount), seed: ~number)
    else { return nil }
    isDamaged = value.byte(at: 9) != 0
    endedWall = value.integer(at: 16)
    payload = [UInt8](value.extracting(Self.headerBytes..<value.byteCount))
  }

  func encode(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerBytes + payload.count)
    bytes.append(integer: UInt64(0))
    bytes.append(integer: UInt64(Self.version) | (isDamaged ? 1 << 8 : 0))
    bytes.append(integer: endedWall)
    bytes += payload
    let checksum = Checksum.of(bytes.rawBytes.extracting(8..<bytes.count), seed: ~number)
    bytes.replace(integerAt: 0, with: checksum)
    return bytes
  }
}
