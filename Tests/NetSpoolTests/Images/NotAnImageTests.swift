import Testing

@testable import NetSpool

@Suite("What is no image")
struct NotAnImageTests {
  typealias Sample = ImageSample
  private typealias File = ImageFixture

  static let others = [
    Sample("nothing", []), text("<!DOCTYPE html><html><head><title>404</title></head></html>"),
    text("\u{FEFF}<html>"),
    text(#"{"error": "no such image", "code": 404}"#),
    text(#"<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>"#),
    text("BM is the abbreviation of bitmap, and this is a text about it, longer than any header."),
    text("GIF89a is the name of a version; GIF87a of another. This is a text about both of them."),
    text("RIFF and WEBP are words of this text"),
    text("%PDF-1.7"), text("PNG"), text("JFIF"),
    Sample("gzip", hex("1F8B0800000000000003")),
    Sample("icon", hex("00000100010010100000010020006804000016000000")),
    Sample("TIFF", hex("49492A0008000000")),
    Sample("WAVE", join(ascii("RIFF"), little(36, 4), ascii("WAVEfmt "), little(16, 4))),
    Sample(
      "MP4",
      join(HEIFFile.box("ftyp", join(ascii("isom"), big(0, 4), ascii("isomavc1"))), HEIFFile.box("moov", []))),
    Sample("JPEG XL", HEIFFile.box("JXL ", hex("0D0A870A"))),
  ]

  private static func text(_ text: String) -> Sample { Sample(text, ascii(text)) }

  /// Images but for one thing.
  static let damaged = [
    Sample("PNG of no width", File.pngHead(0, 1)),
    Sample("PNG of no height", File.pngHead(1, 0)),
    Sample("PNG too wide", File.pngHead(0x8000_0000, 1)),
    Sample("PNG too high", File.pngHead(1, 0xFFFF_FFFF)),
    Sample("PNG transferred as text", join([0x89], ascii("PNG\n\u{1A}\n"), Array(File.pngHead(1, 1)[8...]))),
    Sample("PNG without IHDR", join(Array(File.pngHead(1, 1)[..<8]), File.chunk("IDAT", [1, 2, 3]))),
    Sample("JPEG of no width", join([0xFF, 0xD8], File.frame(0xC0, 0, 1))),
    Sample("JPEG that tells its height later", join([0xFF, 0xD8], File.frame(0xC0, 1, 0))),
    Sample("JPEG without frame", join([0xFF, 0xD8], File.scan, [0xFF, 0xD9])),
    Sample("JPEG-LS", join([0xFF, 0xD8], File.frame(0xF7, 1, 1), File.scan, [0xFF, 0xD9])),
    Sample("GIF of no width", File.gifHead(0, 1)),
    Sample("GIF of no height", File.gifHead(1, 0)),
    Sample("GIF cut off in its colours", File.gifHead(1, 1, flags: 0x87) + File.gifImage()),
    Sample("GIF of another version", File.gifHead(1, 1, "88a")),
    Sample("WebP with another chunk first", File.riff(File.riffChunk("EXIF", [1, 2]))),
    Sample("WebP of no width", File.riff(File.vp8(0, 1))),
    Sample("WebP of no height", File.riff(File.vp8(1, 0))),
    Sample("BMP of no width", File.bitmap(0, 1, pixels: 4)),
    Sample("BMP of negative width", File.bitmap(-1, 1, pixels: 4)),
    Sample("BMP of the lowest height", File.bitmap(1, Int(Int32.min), pixels: 4)),
    Sample("BMP of no plane", File.bitmap(1, 1, planes: 0, pixels: 4)),
    Sample("BMP of many bits", File.bitmap(1, 1, bits: 33, pixels: 4)),
    Sample("BMP of an unknown header", File.bitmap(1, 1, header: 48, pixels: 4)),
    Sample("AVIF of no width", File.avif { $0.sizes[1] = (0, 1) }),
    Sample("AVIF too wide", File.avif { $0.sizes[1] = (-1, 1) }),
    Sample("AVIF of no primary item", File.avif { $0.primary = 2 }),
    Sample("AVIF of no size", File.avif { $0.sizes[1] = nil }),
  ]

  @Test(arguments: others + damaged) func `is nil`(_ sample: Sample) {
    for end in 0...sample.bytes.count { #expect(sniff(sample.bytes[..<end]) == nil, "cut to \(end)") }
  }
}
