@testable import NetSpool

extension ImageFixture {
  static let webP = [
    Self("lossy", .webP, 1, 1, lossyWebP), Self("lossless", .webP, 1, 1, losslessWebP),
    Self("lossy with alpha", .webP, 1, 1, alphaWebP), Self("animated", .webP, 1, 1, animatedWebP),
    Self("lossy, scaled", .webP, 16_383, 8_000, riff(vp8(16_383, 8_000, scale: 3))),
    Self("lossless, large", .webP, 16_384, 2, riff(vp8L(16_384, 2))),
    Self("extended, with metadata last", .webP, 0x100_0000, 513, extendedWebP),
  ]

  static func riff(_ chunks: [UInt8]) -> [UInt8] {
    ascii("RIFF") + little(chunks.count + 4, 4) + ascii("WEBP") + chunks
  }

  static func riffChunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    ascii(type) + little(data.count, 4) + data + [UInt8](repeating: 0, count: data.count & 1)
  }

  /// The frame tag says: a key frame that is shown, with a first partition of 2 bytes.
  static func vp8(_ width: Int, _ height: Int, scale: Int = 0) -> [UInt8] {
    let sides = little(width | scale << 14, 2) + little(height | scale << 14, 2)
    return riffChunk("VP8 ", join(little(2 << 5 | 0x10, 3), [0x9D, 0x01, 0x2A], sides, [1, 2, 3]))
  }

  static func vp8L(_ width: Int, _ height: Int) -> [UInt8] {
    riffChunk("VP8L", join([0x2F], little((width - 1) | (height - 1) << 14, 4), [1, 2]))
  }

  static func vp8X(_ width: Int, _ height: Int) -> [UInt8] {
    riffChunk("VP8X", join([0, 0, 0, 0], little(width - 1, 3), little(height - 1, 3)))
  }

  private static let extendedWebP = riff(
    join(vp8X(0x100_0000, 513), riffChunk("ICCP", [1, 2, 3]), vp8L(9, 9), riffChunk("EXIF", [1, 2, 3])))

  private static let lossyWebP = hex(
    """
    52494646220000005745425056503820160000003001009d012a010001000ec0fe25a400037000000000
    """)

  private static let losslessWebP = hex(
    """
    524946461a000000574542505650384c0d0000002f00000010071011118888fe0700
    """)

  private static let alphaWebP = hex(
    """
    524946464a00000057454250565038580a00000010000000000000000000414c50480c00000011071011fd0f4444ff030000565038
    20180000001401009d012a010001000000fe00000dc000fee6b5000000
    """)

  private static let animatedWebP = hex(
    """
    524946465200000057454250565038580a00000012000000000000000000414e494d06000000ffffffff0000414e4d462600000000
    0000000000000000000000640000005650384c0d0000002f00000010071011118888fe0700
    """)
}
