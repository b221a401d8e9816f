@testable import NetSpool

extension ImageFixture {
  static let bmp = [
    Self("24 bits, written by ImageIO", .bmp, 3, 2, imageIOBMP),
    Self("from the top", .bmp, 3, 2, bitmap(3, -2, pixels: 24)), Self("of OS/2", .bmp, 3, 2, shortBitmap),
    Self(
      "version 4, with bit fields", .bmp, 2, 2, bitmap(2, 2, bits: 16, header: 108, compression: 3, pixels: 8)
    ),
    Self(
      "version 5, with a profile behind the pixels", .bmp, 2, 1,
      bitmap(2, 1, bits: 32, header: 124, pixels: 8 + 20)),
    Self("run-length coded", .bmp, 100, 90, bitmap(100, 90, bits: 8, compression: 1, stated: 7, pixels: 7)),
    Self("that leaves its size open", .bmp, 33, 2, bitmap(33, 2, bits: 1, size: 0, pixels: 16)),
  ]

  /// A bitmap with a header of 40 bytes or more.
  /// - Parameters:
  ///   - size: the size of the file that it states; the true one by default.
  ///   - stated: the size of the pixels that it states.
  ///   - pixels: the number of bytes behind the headers.
  static func bitmap(
    _ width: Int, _ height: Int, bits: Int = 24, header: Int = 40, compression: Int = 0, size: Int? = nil,
    stated: Int = 0, planes: Int = 1, pixels: Int
  ) -> [UInt8] {
    let start = 14 + header
    let sides = little(width, 4) + little(height, 4)
    let depth = join(little(planes, 2), little(bits, 2), little(compression, 4), little(stated, 4))
    let rest = [UInt8](repeating: 0, count: header - 4 - sides.count - depth.count)
    let file = join(ascii("BM"), little(size ?? start + pixels, 4), little(0, 4), little(start, 4))
    return join(file, little(header, 4), sides, depth, rest, [UInt8](repeating: 0xAA, count: pixels))
  }

  private static let shortBitmap =
    join(
      ascii("BM"), little(26 + 24, 4), little(0, 4), little(26, 4), little(12, 4), little(3, 2), little(2, 2),
      little(1, 2), little(24, 2), [UInt8](repeating: 0xAA, count: 24))

  private static let imageIOBMP = hex(
    """
    424d4e0000000000000036000000280000000300000002000000010018000000000018000000000000000000000000000000000000004d
    0000ed0f008d1f00000000000000a00f00401f00000000
    """)
}
