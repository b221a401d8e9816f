/// An IPv4 or IPv6 address, as its bytes.
struct InternetAddress: Sendable, Hashable {
  /// 4 or 16.
  let bytes: [UInt8]

  /// Nil for another number of bytes.
  init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// `127.0.0.1`, or eight groups of hexadecimal digits.
  var text: String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    return groups.map { String($0, radix: 16) }.joined(separator: ":")
  }

  /// Any host on the internet may own it: it is not of this machine or this network, nor reserved, nor for all
  /// (the special-purpose registries of RFC 6890).
  var isPublic: Bool { bytes.count == 4 ? isPublic4(bytes[...]) : isPublic6 }

  /// This machine's own: 127.0.0.0/8, also inside IPv6, and ::1.
  var isLoopback: Bool {
    if bytes.count == 4 { return bytes[0] == 127 }
    if let inner = embedded4 { return inner.first == 127 }
    return bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
  }

  private func isPublic4(_ bytes: ArraySlice<UInt8>) -> Bool {
    let word = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return !Self.special4.contains { block in word >> (32 - block.bits) == block.prefix >> (32 - block.bits) }
  }

  private var isPublic6: Bool {
    if let inner = embedded4 { return isPublic4(inner) }
    let first = UInt32(bytes[0]) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3])
    guard first >> 29 == 0b001 else { return false }  // 2000::/3 is all that is given out
    return !Self.special6.contains { block in first >> (32 - block.bits) == block.prefix >> (32 - block.bits)
    }
  }

  /// The IPv4 address that really answers: ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2) and 64:ff9b::a.b.c.d
  /// (RFC 6052 section 2.1).
  private var embedded4: ArraySlice<UInt8>? {
    let translated: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
    return bytes.starts(with: Self.mapped) || bytes.starts(with: translated) ? bytes[12...] : nil
  }

  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

  /// ::ffff:a.b.c.d as a.b.c.d.
  var unmapped: InternetAddress {
    guard bytes.count == 16, bytes.starts(with: Self.mapped) else { return self }
    return InternetAddress(bytes[12...]) ?? self
  }

  private typealias Block = (prefix: UInt32, bits: UInt32)

  private static let special4: [Block] = [
    (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
    (0xAC10_0000, 12), (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16),
    (0xC612_0000, 15), (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
  ]

  /// 2001::/23, 2001:db8::/32, 2002::/16 (which hides an IPv4 address) and 3fff::/20.
  private static let special6: [Block] = [
    (0x2001_0000, 23), (0x2001_0DB8, 32), (0x2002_0000, 16), (0x3FFF_0000, 20),
  ]
}
