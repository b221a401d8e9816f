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
    guard value.byteCount == Self.bytes,
      value.integer(at: 0, as: UInt64.self) == Checksum.of(value.extracting(8..<Self.bytes))
    else { return nil }
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
    bytes.replace(integerAt: 0, with: Checksum.of(bytes.rawBytes.extracting(8..<Self.bytes)))
    return bytes
  }
}
