/// An address block: a family, the address as one number, and how many of its bits count.
struct IPPrefix: Hashable, Sendable {
  let family: IPFamily
  let high: UInt64
  let low: UInt64
  let length: UInt8

  init(_ family: IPFamily, high: UInt64 = 0, low: UInt64 = 0, length: UInt8) {
    self.family = family
    self.high = high
    self.low = low
    self.length = length
  }

  /// Everything.
  static func everything(_ family: IPFamily) -> IPPrefix { IPPrefix(family, length: 0) }

  /// From an attribute's bytes, the most significant first; missing ones are zero, more than 16 are not looked at.
  init(_ family: IPFamily, _ bytes: RawSpan, length: UInt8) {
    var (high, low): (UInt64, UInt64) = (0, 0)
    for index in 0..<min(bytes.byteCount, 16) {
      let byte = UInt64(bytes.byte(at: index))
      if index < 8 { high |= byte << UInt64(56 - 8 * index) } else { low |= byte << UInt64(120 - 8 * index) }
    }
    self.init(family, high: high, low: low, length: length)
  }

  /// Only the own link is behind it (RFC 3927, RFC 4291 section 2.5.6), or a group (RFC 5771, RFC 4291 section 2.7).
  var staysOnLink: Bool {
    guard length > 0 else { return false }
    switch family {
    case .ipv4: return high >> 48 == 0xA9FE || high >> 60 == 0xE
    case .ipv6: return high >> 54 == 0x3FA || high >> 56 == 0xFF
    }
  }
}
