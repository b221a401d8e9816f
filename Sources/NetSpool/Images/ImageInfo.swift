/// What the bytes of an image file say about it without being decoded.
struct ImageInfo: Sendable, Hashable {
  /// The file format, found by its signature.
  let format: ImageFormat
  /// Width and height as a decoder unfolds them.
  let pixelSize: PixelSize
  /// The same, without what HEIF's `clap` crops away.
  let shownSize: PixelSize
  /// The file reaches its structural end: no part that its headers announce is missing.
  ///
  /// What follows that end is not looked at: an image with junk behind it is complete. Checksums are not
  /// verified and no pixel is decoded, so a complete file may still hold damaged pixels.
  let isComplete: Bool

  init(format: ImageFormat, pixelSize: PixelSize, shownSize: PixelSize? = nil, isComplete: Bool) {
    self.format = format
    self.pixelSize = pixelSize
    self.shownSize = shownSize ?? pixelSize
    self.isComplete = isComplete
  }

  /// Looks at the bytes of a file, from its first one on.
  ///
  /// Nil when they are of no known image format, when its headers are damaged or cut off before they told the
  /// size, and for a size out of bounds. A MIME type plays no part: servers send wrong ones.
  ///
  /// Any thread. Time is linear in the number of bytes, and mostly far below, since what the headers give
  /// the length of is skipped; only the scans of a JPEG are read through. Nothing is allocated.
  static func sniff(_ bytes: RawSpan) -> ImageInfo? {
    let bytes = ImageBytes(bytes)
    return switch ImageFormat(signature: bytes) {
    case .png: PNGSniffer.sniff(bytes)
    case .jpeg: JPEGSniffer.sniff(bytes)
    case .gif: GIFSniffer.sniff(bytes)
    case .webP: WebPSniffer.sniff(bytes)
    case .avif: HEIFSniffer.sniff(bytes, as: .avif)
    case .heif: HEIFSniffer.sniff(bytes, as: .heif)
    case .bmp: BMPSniffer.sniff(bytes)
    case nil: nil
    }
  }
}

/// The image formats that are told apart.
enum ImageFormat: String, Sendable, CaseIterable {
  case png, jpeg, gif, webP = "webp", avif, heif, bmp

  /// The registered media type (RFC 2045, 7903, 9649; PNG, AVIF and HEIF by their own registrations).
  var mimeType: String { "image/\(rawValue)" }

  /// The format whose signature stands at the beginning (WHATWG MIME Sniffing section 6.1; for AVIF and HEIF
  /// the brands of ISO/IEC 23008-12 section 10).
  init?(signature bytes: ImageBytes) {
    switch bytes.code(0) {
    case "\u{89}PNG" where bytes.code(4) == "\r\n\u{1A}\n": self = .png
    case "GIF8": self = .gif
    case "RIFF" where bytes.code(8) == "WEBP": self = .webP
    case _ where bytes.big(0, width: 3) == 0xFF_D8FF: self = .jpeg
    case _ where bytes.code(4) == "ftyp":
      guard let format = HEIFSniffer.format(bytes) else { return nil }
      self = format
    case _ where bytes.big(0, width: 2) == 0x424D: self = .bmp
    default: return nil
    }
  }
}

/// Width and height in pixels, each 1 to 2,147,483,647: the bound of PNG, and of any decoder.
///
/// It is the size before the orientation of EXIF or of HEIF's `irot` is applied. For GIF and animated WebP it is the canvas.
struct PixelSize: Sendable, Hashable {
  let width: Int
  let height: Int

  /// Nil when a side is zero or out of bounds: nothing could be shown.
  init?(width: Int?, height: Int?) {
    guard let width, let height, Self.sides.contains(width), Self.sides.contains(height) else { return nil }
    self.width = width
    self.height = height
  }

  private static let sides = 1...Int(Int32.max)
}
