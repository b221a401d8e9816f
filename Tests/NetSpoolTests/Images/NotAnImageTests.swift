import Testing

@testable import NetSpool

@Suite("What is no image")
struct NotAnImageTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    init(_ name: String, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
    init(text: String) { self.init(text, ascii(text)) }
    var testDescription: String { name }
  }

  static let others = [
    Sample("nothing", []), Sample(text: "<!DOCTYPE html><html><head><title>404</title></head></html>"),
    Sample(text: "\u{FEFF}<html>"),
    Sample(text: #"{"error": "no such image", "code": 404}"#),
    Sample(text: #"<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>"#),
    Sample(text: "BM is the abbreviation of bitmap, and this is a text about it, longer than any header."),
    Sample(text: "GIF89a is the name of a version; GIF87a of another. This is a text about both of them."),
    Sample(text: "RIFF and WEBP are words of this text"),
    Sample(text: "%PDF-1.7"), Sample(text: "PNG"), Sample(text: "JFIF"),
    Sample("gzip", hex("1F8B0800000000000003")),
    Sample("icon", hex("00000100010010100000010020006804000016000000")),
    Sample("TIFF", hex("49492A0008000000")),
    Sample("WAVE", join(ascii("RIFF"), little(36, 4), ascii("WAVEfmt "), little(16, 4))),
    Sample(
      "MP4",
      join(HEIFFile.box("ftyp", join(ascii("isom"), big(0, 4), ascii("isomavc1"))), HEIFFile.box("moov", []))),
    Sample("JPEG XL", HEIFFile.box("JXL ", hex("0D0A870A"))),
  ]

  /// Images but for one thing.
  static let damaged = [
    Sample("PNG of no width", ImageFixture.pngHead(0, 1)),
    Sample("PNG of no height", ImageFixture.pngHead(1, 0)),
    Sample("PNG too wide", ImageFixture.pngHead(0x8000_0000, 1)),
    Sample("PNG too high", ImageFixture.pngHead(1, 0xFFFF_FFFF)),
    Sample(
      "PNG transferred as text", join([0x89], ascii("PNG\n\u{1A}\n"), Array(ImageFixture.pngHead(1, 1)[8...]))
    ),
    Sample(
      "PNG without IHDR",
      join(Array(ImageFixture.pngHead(1, 1)[..<8]), ImageFixture.chunk("IDAT", [1, 2, 3]))),
    Sample("JPEG of no width", join([0xFF, 0xD8], ImageFixture.frame(0xC0, 0, 1))),
    Sample("JPEG that tells its height later", join([0xFF, 0xD8], ImageFixture.frame(0xC0, 1, 0))),
    Sample("JPEG without frame", join([0xFF, 0xD8], ImageFixture.scan, [0xFF, 0xD9])),
    Sample("JPEG-LS", join([0xFF, 0xD8], ImageFixture.frame(0xF7, 1, 1), ImageFixture.scan, [0xFF, 0xD9])),
    Sample("GIF of no width", ImageFixture.gifHead(0, 1)),
    Sample("GIF of no height", ImageFixture.gifHead(1, 0)),
    Sample("GIF cut off in its colours", ImageFixture.gifHead(1, 1, flags: 0x87) + ImageFixture.gifImage()),
    Sample("GIF of another version", ImageFixture.gifHead(1, 1, "88a")),
    Sample("WebP with another chunk first", ImageFixture.riff(ImageFixture.riffChunk("EXIF", [1, 2]))),
    Sample("WebP of no width", ImageFixture.riff(ImageFixture.vp8(0, 1))),
    Sample("WebP of no height", ImageFixture.riff(ImageFixture.vp8(1, 0))),
    Sample("BMP of no width", ImageFixture.bitmap(0, 1, pixels: 4)),
    Sample("BMP of negative width", ImageFixture.bitmap(-1, 1, pixels: 4)),
    Sample("BMP of the lowest height", ImageFixture.bitmap(1, Int(Int32.min), pixels: 4)),
    Sample("BMP of no plane", ImageFixture.bitmap(1, 1, planes: 0, pixels: 4)),
    Sample("BMP of many bits", ImageFixture.bitmap(1, 1, bits: 33, pixels: 4)),
    Sample("BMP of an unknown header", ImageFixture.bitmap(1, 1, header: 48, pixels: 4)),
    Sample(
      "AVIF of no width", ImageFixture.with(ImageFixture.oneItem(["avif"])) { $0.sizes[1] = (0, 1) }.bytes),
    Sample(
      "AVIF too wide", ImageFixture.with(ImageFixture.oneItem(["avif"])) { $0.sizes[1] = (-1, 1) }.bytes),
    Sample(
      "AVIF of no primary item", ImageFixture.with(ImageFixture.oneItem(["avif"])) { $0.primary = 2 }.bytes),
    Sample("AVIF of no size", ImageFixture.with(ImageFixture.oneItem(["avif"])) { $0.sizes[1] = nil }.bytes),
  ]

  @Test(arguments: others + damaged) func `is nil`(_ sample: Sample) {
    for end in 0...sample.bytes.count { #expect(sniff(sample.bytes[..<end]) == nil, "cut to \(end)") }
  }
}
