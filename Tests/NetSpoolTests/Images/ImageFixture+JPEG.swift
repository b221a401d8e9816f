@testable import NetSpool

extension ImageFixture {
  static let jpeg = [
    Self("baseline, written by ImageIO", .jpeg, 19, 11, baselineJPEG),
    Self("progressive, written by ImageIO", .jpeg, 19, 11, progressiveJPEG),
    Self("arithmetic coded", .jpeg, 1, 1, arithmeticJPEG),
    Self("with a thumbnail in EXIF", .jpeg, 4000, 3000, thumbnailJPEG),
    Self("with restarts, stuffing and fill", .jpeg, 65_535, 65_535, restartJPEG),
    Self("with stray bytes between segments", .jpeg, 7, 5, strayJPEG),
  ]

  static func segment(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
    [0xFF, code] + big(data.count + 2, 2) + data
  }

  static func frame(_ code: UInt8, _ width: Int, _ height: Int) -> [UInt8] {
    segment(code, join([8], big(height, 2), big(width, 2), [1, 1, 0x11, 0]))
  }

  static let scan = segment(0xDA, [1, 1, 0, 0, 0x3F, 0])

  private static let thumbnailJPEG =
    join(
      [0xFF, 0xD8], segment(0xE1, join(ascii("Exif\0\0"), baselineJPEG)), segment(0xC4, [0]),
      frame(0xC1, 4000, 3000), scan, [1, 2, 3, 0xFF, 0xD9])

  private static let restartJPEG =
    join(
      [0xFF, 0xD8], frame(0xC0, 65_535, 65_535), scan,
      [1, 0xFF, 0, 0xFF, 0xD0, 2, 0xFF, 0xFF, 0xFF, 0xD7, 0xFF, 0, 0xFF, 0xFF, 0xD9])

  private static let strayJPEG =
    join([0xFF, 0xD8], segment(0xFE, ascii("note")), [0, 0], frame(0xC0, 7, 5), [1], scan, [9, 0xFF, 0xD9])

  static let baselineJPEG = hex(
    """
    ffd8ffe000104a46494600010200000100010000ffdb0043001b12141714111b1716171e1c1b2028432b28252528523a3e30436155
    66645f555d5c6b7899826b7191735c5d85b687919ea3acadac6780bccabba7c899a8aca5ffc0000b08000b001301011100ffc40017
    000100030000000000000000000000000002030405ffc4002710000201030204070100000000000000000102030411210012315161
    710513142232419142ffda0008010100003f00314689446382e11d0ef7c31b5b2317031f64f3efa72469e97ca5bac1ed2c704b0b8b
    0bfc467af2ec64867448c29a56b8c1b3311fa1355aa588a482a01b4c650a5c6091b4f1e7c06955318a5a49633b1e4ddbcae3770c9e
    b939d6947e1b492a2bb456247f2c547e036d7fffd9
    """)

  static let progressiveJPEG = hex(
    """
    ffd8ffe000104a46494600010200000100010000ffdb0043001b12141714111b1716171e1c1b2028432b28252528523a3e30436155
    66645f555d5c6b7899826b7191735c5d85b687919ea3acadac6780bccabba7c899a8aca5ffc2000b08000b001301011100ffc40017
    000100030000000000000000000000000001020304ffda00080101000000011956e9ffc4001a100100020301000000000000000000
    000001022100032232ffda00080101000105020e1391a9799526b8b9ffc4001a100002030101000000000000000000000000010211
    413132ffda0008010100063f02a4561e452db22d69c3ffc4001e1001000201040300000000000000000000010011213141819161c1
    d1ffda0008010100013f2103629975818b18df9f50ca5fb7e45c6af88f4236bade0c2f46a7ffda000801010000001063ffc4001d10
    0100020202030000000000000000000001112100314151617191ffda0008010100013f106f28fd6a22ca90ae57bf79b2ad2a512413
    a5f9ebd2394853087d32c198451a525bef4623ede69c2df36de41d54e41f0633ffd9
    """)

  static let arithmeticJPEG = hex(
    """
    ffd8ffdb004300030202020202030202020303030304060404040404080606050609080a0a090809090a0c0f0c0a0b0e0b09090d11
    0d0e0f101011100a0c12131210130f101010ffc9000b080001000101011100ffcc000600101005ffda0008010100003f00d2cf20ff
    d9
    """)
}
