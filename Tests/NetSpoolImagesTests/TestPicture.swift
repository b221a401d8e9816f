#if Images
import NetSpool

@testable import NetSpoolImages
@testable import NetSpoolTesting

/// Pictures for tests: PNGs written here, and what libvips makes of them in other formats.
enum TestPicture {
  typealias Pixel = (red: UInt8, green: UInt8, blue: UInt8)

  /// Red in its left half and blue in its right one, so that turning it shows; only so many of its rows are there.
  static func png(_ width: Int, _ height: Int, rows count: Int? = nil) -> [UInt8] {
    png(width, height, rows: count) { x, _ in x * 2 < width ? (230, 20, 20) : (20, 20, 230) }
  }

  /// Noise that no two seeds have in common, and that shrinks to little less of itself.
  static func noise(_ width: Int, _ height: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return png(width, height) { _, _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return (UInt8(truncatingIfNeeded: state), UInt8(truncatingIfNeeded: state >> 8), 128)
    }
  }

  static func png(
    _ width: Int, _ height: Int, rows count: Int? = nil, _ pixel: (Int, Int) -> Pixel
  ) -> [UInt8] {
    var rows: [UInt8] = []
    rows.reserveCapacity(height * (1 + width * 3))
    for y in 0..<(count ?? height) {
      rows.append(0)
      for x in 0..<width {
        let (red, green, blue) = pixel(x, y)
        rows += [red, green, blue]
      }
    }
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunk("IHDR", big(width) + big(height) + [8, 2, 0, 0, 0]) + chunk("IDAT", stored(rows))
      + chunk("IEND", [])
  }

  /// The same picture in another format.
  static func made(_ format: ThumbnailTransform.Format, of png: [UInt8]) throws -> [UInt8] {
    let transform = ThumbnailTransform(maxSide: 4_096, format: format, quality: 90)
    return try LibraryDecoder().make(ResponseBytes(png), transform, ThumbnailLimits()) { false }.bytes
  }

  /// What `turned` says of the picture besides.
  static let secret = "at home"

  /// A JPEG with an EXIF segment that holds a description and an orientation (1 to 8).
  static func turned(_ jpeg: [UInt8], _ orientation: UInt8) -> [UInt8] {
    let text = Array(secret.utf8) + [0]
    let tiff: [UInt8] =
      [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2]
      + [0x01, 0x0E, 0, 2, 0, 0, 0, UInt8(text.count), 0, 0, 0, 38]
      + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0] + text
    let exif = Array("Exif".utf8) + [0, 0] + tiff
    return Array(jpeg.prefix(2)) + [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + Array(jpeg.dropFirst(2))
  }

  /// A JPEG with a colour profile (ICC.1, annex B.4).
  static func profiled(_ jpeg: [UInt8], _ profile: [UInt8]) -> [UInt8] {
    let content = Array("ICC_PROFILE".utf8) + [0, 1, 1] + profile
    let length = [UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)]
    return Array(jpeg.prefix(2)) + [0xFF, 0xE2] + length + content + Array(jpeg.dropFirst(2))
  }

  /// A profile for a display of this colour space, `GRAY`, `RGB ` or another: linear, with red where sRGB has blue and blue
  /// where it has red.
  static func profile(_ space: String) -> [UInt8] {
    let white = fixed(0.9642) + fixed(1) + fixed(0.8249)
    let linear = Array("curv".utf8) + big(0) + big(0)
    var tags = [("wtpt", Array("XYZ ".utf8) + big(0) + white)]
    if space == "RGB " {
      for (name, x, y, z) in [
        ("rXYZ", 0.1431, 0.0606, 0.7141), ("gXYZ", 0.3851, 0.7169, 0.0971), ("bXYZ", 0.4361, 0.2225, 0.0139),
      ] { tags.append((name, Array("XYZ ".utf8) + big(0) + fixed(x) + fixed(y) + fixed(z))) }
      tags += ["rTRC", "gTRC", "bTRC"].map { ($0, linear) }
    } else {
      tags.append(("kTRC", linear))
    }
    var (table, data) = (big(tags.count), [UInt8]())
    for (name, content) in tags {
      table += Array(name.utf8) + big(132 + 12 * tags.count + data.count) + big(content.count)
      data += content
    }
    let words = big(0x0240_0000) + Array("mntr\(space)XYZ ".utf8) + [UInt8](repeating: 0, count: 12)
    let rest =
      Array("acsp".utf8) + [UInt8](repeating: 0, count: 28) + white + [UInt8](repeating: 0, count: 48)
    return big(132 + 12 * tags.count + data.count) + big(0) + words + rest + table + data
  }

  private static func fixed(_ value: Double) -> [UInt8] { big(Int(value * 65_536)) }

  /// A GIF of one colour.
  static let gif: [UInt8] =
    Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255, 0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0]
    + [2, 3, 0x04, 0x12, 0x05, 0, 0x3B]

  // MARK: PNG

  private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let content = Array(type.utf8) + data
    return big(data.count) + content + big(Int(Checksum.crc32(content)))
  }

  /// zlib's form without compression (RFC 1950, RFC 1951 section 3.2.4).
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var writer = BitWriter()
    writer.raw([0x78, 0x01])
    Gzip.writeStored(bytes, isLast: true, to: &writer)
    return writer.bytes + big(Int(Checksum.adler32(bytes)))
  }

  private static func big(_ value: Int) -> [UInt8] {
    (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}
#endif
