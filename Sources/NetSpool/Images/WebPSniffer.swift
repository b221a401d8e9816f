/// WebP (RFC 9649): lossy, lossless and extended.
///
/// `RIFF`, size of the rest (4 bytes, little-endian), `WEBP`, then chunks: type (4), length (4, little-endian),
/// data, a byte of padding after an odd length. The first chunk tells the kind and the size:
/// - `VP8 `: frame tag (3 bytes; bit 0 clear in a key frame, the upper 19 the length of the first partition),
///   9D 01 2A, width and height (14 bits each, 2 above them for scaling; RFC 6386 section 9.1)
/// - `VP8L`: 2F, then 14 bits of width - 1, 14 of height - 1, 1 of alpha, 3 of version (0)
/// - `VP8X`: flags (1), reserved (3), width - 1, height - 1 (3 bytes each); the pixels are in a later
///   `VP8 `, `VP8L`, or `ANMF`
enum WebPSniffer {
  private static let firstChunk = 12
  private static let firstData = 20

  static func sniff(_ bytes: ImageBytes) -> ImageInfo? {
    size(bytes).map { ImageInfo(format: .webP, pixelSize: $0, isComplete: reachesEnd(bytes)) }
  }

  private static func size(_ bytes: ImageBytes) -> PixelSize? {
    switch bytes.code(firstChunk) {
    case "VP8 ": lossySize(bytes)
    case "VP8L": losslessSize(bytes)
    case "VP8X":
      PixelSize(
        width: bytes.little(firstData + 4, width: 3).map { $0 + 1 },
        height: bytes.little(firstData + 7, width: 3).map { $0 + 1 })
    default: nil
    }
  }

  private static func lossySize(_ bytes: ImageBytes) -> PixelSize? {
    guard let tag = bytes.little(firstData, width: 3), tag & 1 == 0,
      bytes.big(firstData + 3, width: 3) == 0x9D_012A
    else { return nil }
    return PixelSize(
      width: bytes.little(firstData + 6, width: 2).map { $0 & 0x3FFF },
      height: bytes.little(firstData + 8, width: 2).map { $0 & 0x3FFF })
  }

  private static func losslessSize(_ bytes: ImageBytes) -> PixelSize? {
    guard bytes.byte(firstData) == 0x2F, let bits = bytes.little(firstData + 1, width: 4), bits >> 29 == 0
    else { return nil }
    return PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
  }

  /// The stated size is there, and within it a whole chunk of pixels.
  private static func reachesEnd(_ bytes: ImageBytes) -> Bool {
    guard let size = bytes.little(4, width: 4), 8 + size <= bytes.count else { return false }
    var offset = firstChunk
    while let type = bytes.code(offset), let length = bytes.little(offset + 4, width: 4) {
      guard offset + 8 + length <= 8 + size else { return false }
      if holdsPixels(type, length, at: offset + 8, bytes) { return true }
      offset += 8 + length + length & 1
    }
    return false
  }

  private static func holdsPixels(_ type: FourCC, _ length: Int, at offset: Int, _ bytes: ImageBytes) -> Bool
  {
    switch type {
    case "VP8L", "ANMF": true
    case "VP8 ": bytes.little(offset, width: 3).map { $0 >> 5 < length } ?? false
    default: false
    }
  }
}
