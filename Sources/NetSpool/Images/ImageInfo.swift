/// What the bytes of an image file say about it without being decoded.
struct ImageInfo: Sendable, Hashable {
  /// The file format, found by its signature.
  let format: ImageFormat
  /// Width and height as stored; see `PixelSize`.
  let pixelSize: PixelSize
  /// The file reaches its structural end: no part that its headers announce is missing.
  ///
  /// What follows that end is not looked at: an image with junk behind it is complete. Checksums are not
  /// verified and no pixel is decoded, so a complete file may still hold damaged pixels.
  let isComplete: Bool

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
