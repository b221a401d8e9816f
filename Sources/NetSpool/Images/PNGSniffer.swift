/// PNG (W3C, Third Edition, sections 5 and 11), animated ones included.
///
/// An 8-byte signature, then chunks: length of the data (4 bytes, big-endian, at most 2^31 - 1), type
/// (4 letters), data, CRC (4 bytes, not verified). `IHDR` comes first and begins with width and height,
/// `IDAT` holds the pixels, `IEND` ends the file.
enum PNGSniffer {
  static func sniff(_ bytes: ImageBytes) -> ImageInfo? {
    guard bytes.big(8, width: 4) == 13, bytes.code(12) == "IHDR" else { return nil }
    let size = PixelSize(width: bytes.big(16, width: 4), height: bytes.big(20, width: 4))
    return size.map { ImageInfo(format: .png, pixelSize: $0, isComplete: reachesEnd(bytes)) }
  }

  private static func reachesEnd(_ bytes: ImageBytes) -> Bool {
    var offset = 8
    var hasPixels = false
    while let length = bytes.big(offset, width: 4), let type = bytes.code(offset + 4) {
      let next = offset + 12 + length
      guard length <= Int32.max, type.isLetters, next <= bytes.count else { return false }
      if type == "IEND" { return hasPixels }
      hasPixels = hasPixels || type == "IDAT"
      offset = next
    }
    return false
  }
}
