@testable import NetSpool

extension ImageFixture {
  static let gif = [
    Self("written by ImageIO", .gif, 5, 3, imageIOGIF),
    Self("87a without colours", .gif, 2, 1, join(gifHead(2, 1, "87a"), gifImage(), [0x3B])),
    Self("animated, with local colours", .gif, 300, 0xFFFF, animatedGIF),
  ]

  static func gifHead(_ width: Int, _ height: Int, _ version: String = "89a", flags: UInt8 = 0) -> [UInt8] {
    ascii("GIF" + version) + little(width, 2) + little(height, 2) + [flags, 0, 0]
  }

  static func gifImage(flags: UInt8 = 0, colours: [UInt8] = []) -> [UInt8] {
    [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, flags] + colours + [2, 2, 0x4C, 0x3B, 1, 0x3B, 0]
  }

  private static let animatedGIF =
    join(
      gifHead(300, 0xFFFF, flags: 0x81), [UInt8](repeating: 0x3B, count: 12), [0x21, 0xFF, 11],
      ascii("NETSCAPE2.0"), [3, 1, 0, 0, 0], [0x21, 0xF9, 4, 0, 0, 0, 0, 0],
      gifImage(flags: 0x80, colours: [UInt8](repeating: 0, count: 6)), [0x21, 0xFE, 2], ascii(";;"), [0],
      gifImage(), [0x3B])

  private static let imageIOGIF = hex(
    """
    47494638396105000300f10000000009ff010800c8075003062c000000000500030041080f0001041030000041810206160c1010003b
    """)
}
