@testable import NetSpool

extension ImageFixture {
  static let png = [
    Self("written by ImageIO", .png, 5, 3, palettePNG), Self("with other chunks", .png, 640, 480, otherPNG),
    Self("with the largest sides", .png, 0x7FFF_FFFF, 0x7FFF_FFFF, largePNG),
    Self("animated", .png, 16, 9, animatedPNG),
  ]

  /// CRCs are not looked at, so these are not right.
  static func chunk(_ type: String, _ data: [UInt8] = []) -> [UInt8] {
    big(data.count, 4) + ascii(type) + data + [0xC, 0xC, 0xC, 0xC]
  }

  static func pngHead(_ width: Int, _ height: Int) -> [UInt8] {
    hex("89504E470D0A1A0A") + chunk("IHDR", join(big(width, 4), big(height, 4), [8, 2, 0, 0, 0]))
  }

  private static let otherPNG =
    join(
      pngHead(640, 480), chunk("gAMA", big(45455, 4)), chunk("tEXt", ascii("Title\0IEND")), chunk("IDAT"),
      chunk("IDAT", [1, 2, 3]), chunk("IEND"))

  private static let largePNG = pngHead(0x7FFF_FFFF, 0x7FFF_FFFF) + chunk("IDAT", [1]) + chunk("IEND")

  private static let animatedPNG =
    join(
      pngHead(16, 9), chunk("acTL", join(big(2, 4), big(0, 4))),
      chunk("fcTL", [UInt8](repeating: 0, count: 26)), chunk("IDAT", [1]), chunk("fdAT", [0, 0, 0, 1, 2]),
      chunk("IEND"))

  private static let palettePNG = hex(
    """
    89504e470d0a1a0a0000000d49484452000000050000000308030000006ce835ca0000000c504c5445000009ff010800c80750030695
    b61d0b0000001649444154785e63606064626600138c4c8c8c7f19190103ba01112d5096f20000000049454e44ae426082
    """)
}
