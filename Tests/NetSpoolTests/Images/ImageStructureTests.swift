import Testing

@testable import NetSpool
@testable import TestSupport

/// Files whose headers can be read, but which are not whole, or lie about what follows.
@Suite("Images that are not whole", .measured)
struct ImageStructureTests {
  typealias Sample = ImageSample
  private typealias File = ImageFixture

  static let png = [
    Sample("PNG without pixels", join(File.pngHead(1, 1), File.chunk("IEND"))),
    Sample("PNG without end", join(File.pngHead(1, 1), File.chunk("IDAT", [1]))),
    Sample("PNG with a chunk of no type", join(File.pngHead(1, 1), File.chunk("ID\0T"), File.chunk("IEND"))),
    Sample("PNG with a chunk over its limit", join(File.pngHead(1, 1), big(0x8000_0000, 4), ascii("IDAT"))),
    Sample(
      "PNG with a chunk past the end", join(File.pngHead(1, 1), big(0x7FFF_FFFF, 4), ascii("IDAT"), [1, 2])),
  ]

  static let jpeg = [
    Sample("JPEG without scan", join([0xFF, 0xD8], File.frame(0xC0, 1, 1), [0xFF, 0xD9])),
    Sample(
      "JPEG with two frames", join([0xFF, 0xD8], File.frame(0xC0, 1, 1), Array(File.baselineJPEG[2...]))),
    Sample(
      "JPEG begun twice", join([0xFF, 0xD8], File.frame(0xC0, 1, 1), File.scan, [1], File.baselineJPEG)),
    Sample(
      "JPEG with a reserved marker",
      join([0xFF, 0xD8], File.frame(0xC0, 1, 1), File.scan, [0xFF, 2, 0xFF, 0xD9])),
    Sample(
      "JPEG with a segment too short",
      join([0xFF, 0xD8], File.frame(0xC0, 1, 1), [0xFF, 0xE0, 0, 1, 0xFF, 0xD9])),
    Sample(
      "JPEG whose only end is its thumbnail's",
      join([0xFF, 0xD8], File.frame(0xC0, 1, 1), File.segment(0xE1, File.baselineJPEG), File.scan, [1, 2])),
  ]

  static let gif = [
    Sample("GIF without image", join(File.gifHead(1, 1), [0x3B])),
    Sample("GIF without trailer", join(File.gifHead(1, 1), File.gifImage())),
    Sample("GIF with an unknown block", join(File.gifHead(1, 1), File.gifImage(), [0x2A, 0x3B])),
  ]

  static let webP = [
    Sample("WebP without pixels", File.riff(join(File.vp8X(1, 1), File.riffChunk("EXIF", [1])))),
    Sample(
      "WebP that says more", join(ascii("RIFF"), little(200, 4), Array(File.riff(File.vp8L(1, 1))[8...]))),
    Sample(
      "WebP that says less", join(ascii("RIFF"), little(10, 4), Array(File.riff(File.vp8L(1, 1))[8...]))),
    Sample(
      "WebP with the largest size",
      join(ascii("RIFF"), little(0xFFFF_FFFF, 4), Array(File.riff(File.vp8L(1, 1))[8...]))),
    Sample(
      "WebP whose chunk is larger than it",
      File.riff(join(ascii("VP8L"), little(0xFFFF_FFFF, 4), [0x2F], big(0, 4)))),
    Sample(
      "WebP whose first partition is larger", File.riff(File.riffChunk("VP8 ", hex("F0FFFF9D012A01000100")))),
  ]

  static let bmp = [
    Sample("BMP with too few pixels", File.bitmap(3, 2, size: 0, pixels: 23)),
    Sample("BMP that says more", File.bitmap(3, 2, size: 79, pixels: 24)),
    Sample("BMP of the largest sides", File.bitmap(Int(Int32.max), -Int(Int32.max), bits: 32, pixels: 24)),
    Sample("BMP of unknown length", File.bitmap(3, 2, compression: 1, pixels: 24)),
    Sample("BMP of no bits", File.bitmap(3, 2, bits: 0, pixels: 24)),
  ]

  static let avif = [
    Sample("AVIF without its data", Array(File.oneItem(["avif"]).bytes.dropLast(48))),
    Sample("sequence without its movie", File.with(File.sequence) { $0.behind = [] }.bytes),
    Sample("AVIF of no items", File.avif { $0.items[0].pieces = [] }),
    Sample("AVIF with a damaged box", File.avif { $0.behind = big(9, 4) + ascii("free") }),
    Sample(
      "AVIF cut in the header of a long box",
      File.avif { $0.behind = big(1, 4) + ascii("free") + big(0, 4) }),
    Sample("AVIF whose mdat says more", File.avif { $0.mdatSize = 49 }),
  ]

  @Test(arguments: png + jpeg + gif + webP + bmp + avif)
  func `are images yet not complete`(_ sample: Sample) throws {
    #expect(try !#require(sniff(sample.bytes)).isComplete)
  }

  /// Extents that take no bytes, as many as numbers can say: 2^32 items of 65,535.
  @Test func `numbers of nothing cost nothing`() throws {
    let iloc = HEIFFile.full(
      "iloc", version: 2, join([0, 0], big(0xFFFF_FFFF, 4), [UInt8](repeating: 0xFF, count: 100_000)))
    let file = Self.ftyp + Self.meta(iloc)
    expect(work { #expect(sniff(file)?.isComplete == false) }, within: .seconds(1))
  }

  /// Offsets, lengths and bases whose sum is over every number.
  @Test(arguments: [0x4480, 0x8880] as [Int]) func `sums do not overflow`(_ widths: Int) throws {
    let rest = [UInt8](repeating: 0x7F, count: 64)
    let iloc = HEIFFile.full("iloc", join(big(widths, 2), big(1, 2), big(1, 2), big(0, 2), rest))
    #expect(try #require(sniff(Self.ftyp + Self.meta(iloc))).isComplete == false)
  }

  private static func meta(_ iloc: [UInt8]) -> [UInt8] {
    let ispe = HEIFFile.full("ispe", join(big(1, 4), big(1, 4)))
    let ipma = HEIFFile.full("ipma", join(big(1, 4), big(1, 2), [1, 1]))
    let pitm = HEIFFile.full("pitm", big(1, 2))
    return HEIFFile.full("meta", pitm + iloc + HEIFFile.box("iprp", join(HEIFFile.box("ipco", ispe), ipma)))
  }

  /// A box of 2^63 - 1 bytes, one of 2^64 - 1, one of none, one shorter than its header, one to the end.
  static let boxes = [
    join(big(1, 4), ascii("meta"), big(.max, 8)), join(big(1, 4), ascii("meta"), big(-1, 8)),
    join(big(1, 4), ascii("meta"), big(0, 8)), big(7, 4) + ascii("meta"), big(0, 4) + ascii("meta"),
  ]

  @Test(arguments: boxes) func `sizes of boxes are not believed`(_ box: [UInt8]) {
    #expect(sniff(Self.ftyp + box) == nil)
  }

  private static let ftyp = HEIFFile.box("ftyp", ascii("avif") + big(0, 4))

  /// Width and height are fractions; where they lie plays no part.
  @Test(arguments: [
    ([639, 1, 479, 1, 0, 1, 0, 1], 639, 479), ([1279, 2, 3, 2, 0, 1, 0, 1], 640, 2),
    ([9_000, 1, 479, 1, 0, 1, 0, 1], 640, 479), ([639, 0, 479, 1, 0, 1, 0, 1], 640, 480),
    ([0, 1, 479, 1, 0, 1, 0, 1], 640, 480), ([1, 4, 479, 1, 0, 1, 0, 1], 640, 480),
    ([639, 1, 479, 1], 640, 480), ([0xFFFF_FFFF, 1, 0xFFFF_FFFF, 0xFFFF_FFFF, 0, 1, 0, 1], 640, 1),
  ]) func `shows what a HEIF file leaves of itself`(_ crop: [Int], _ width: Int, _ height: Int) {
    let file = ImageFixture.with(ImageFixture.oneItem(["heic"])) { file in
      file.crop = crop
      file.items[0].properties.append(3)
    }
    let image = sniff(file.bytes)
    #expect(image?.shownSize == PixelSize(width: width, height: height))
    // A decoder unfolds all of it
    #expect(image?.pixelSize == PixelSize(width: 640, height: 480))
    // One that belongs to another item plays no part
    let others = ImageFixture.with(file) { $0.items[0].properties.removeLast() }
    #expect(sniff(others.bytes)?.shownSize == PixelSize(width: 640, height: 480))
  }
}
