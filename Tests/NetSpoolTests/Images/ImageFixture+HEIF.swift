@testable import NetSpool

extension ImageFixture {
  static let heif = [
    Self("written by libavif", .avif, 2, 2, libavifAVIF),
    Self("of one item", .avif, 640, 480, oneItem(["avif", "mif1", "miaf"]).bytes),
    Self("of a generic major brand", .avif, 640, 480, oneItem(["mif1", "miaf", "avif"]).bytes),
    Self("of no named codec", .heif, 640, 480, oneItem(["mif1", "miaf"]).bytes),
    Self("of HEVC, by a generic major brand", .heif, 640, 480, oneItem(["mif1", "heic"]).bytes),
    Self("grid of tiles, with thumbnail and EXIF", .heif, 4032, 3024, gridHEIF.bytes),
    Self("grid with the long forms of all boxes", .heif, 4032, 3024, longGridHEIF.bytes),
    Self("with a long mdat", .avif, 640, 480, avif { $0.mdatSize = 1 }),
    Self("with an mdat to the end", .avif, 640, 480, avif { $0.mdatSize = 0 }),
    Self("sequence", .avif, 640, 480, sequence.bytes),
  ]

  static func with(_ file: HEIFFile, _ change: (inout HEIFFile) -> Void) -> HEIFFile {
    var file = file
    change(&file)
    return file
  }

  /// An AVIF file of one item, but for what is changed.
  static func avif(_ change: (inout HEIFFile) -> Void) -> [UInt8] { with(oneItem(["avif"]), change).bytes }

  static func oneItem(_ brands: [String]) -> HEIFFile {
    HEIFFile(
      brands: brands, primary: 1, sizes: [nil, (640, 480)],
      items: [.init(id: 1, properties: [1, 2], pieces: [40])])
  }

  /// As telephones write them: the primary item is a grid whose own bytes are in `idat`; tiles, thumbnail and
  /// EXIF are in `mdat`, the last in two pieces.
  static let gridHEIF = HEIFFile(
    brands: ["heic", "mif1", "heic"], primary: 49, sizes: [(512, 512), nil, (320, 240), (4032, 3024)],
    items: [
      .init(id: 1, properties: [2, 1], pieces: [30]), .init(id: 2, properties: [2, 1], pieces: [20]),
      .init(id: 49, properties: [2, 4], pieces: [8], inMeta: true),
      .init(id: 50, properties: [3], pieces: [16]), .init(id: 51, properties: [], pieces: [5, 6]),
    ], iloc: 1)

  static let longGridHEIF = with(gridHEIF) { file in
    file.pitm = 1
    file.ipma = 1
    file.iloc = 2
    file.hasLongAssociations = true
    file.between = HEIFFile.box("free", [0, 0, 0])
  }

  static let sequence = with(oneItem(["avis", "avif"])) { $0.behind = HEIFFile.box("moov", big(0, 12)) }

  static let libavifAVIF = hex(
    """
    00000020667479706176696600000000617669666d6966316d6961664d413142000000f26d657461000000000000002868646c7200
    00000000000000706963740000000000000000000000006c696261766966000000000e7069746d0000000000010000001e696c6f63
    00000000440000010001000000010000011a0000001d0000002869696e660000000000010000001a696e6665020000000001000061
    763031436f6c6f72000000006a697072700000004b6970636f00000014697370650000000000000002000000020000001070697869
    00000000030808080000000c61763143810d0c0000000013636f6c726e636c78000200020001800000001769706d61000000000000
    000100010401028304000000256d64617412000a081800368810100c20320f1ff03fffffc59f87007cf84acae360
    """)
}
