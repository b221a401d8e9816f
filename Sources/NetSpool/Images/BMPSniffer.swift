/// Windows and OS/2 bitmaps (RFC 7903 section 1.1; BITMAPFILEHEADER and its followers).
///
/// All little-endian. 0: `BM`. 2: size of the file (4 bytes). 10: offset of the pixels (4). 14: size of the
/// header that begins here (4): 12 for the oldest, whose fields have 2 bytes, else 40, 52, 56, 64, 108 or
/// 124. 18: width, height (a negative one means rows from the top), planes (2 bytes, always 1), bits per pixel
/// (2), and in the longer headers compression (4) and size of the pixels (4).
struct BMPSniffer {
  private let size: PixelSize
  private let bitsPerPixel: Int
  private let compression: Int

  static func sniff(_ bytes: ImageBytes) -> ImageInfo? {
    Self(bytes).map { ImageInfo(format: .bmp, pixelSize: $0.size, isComplete: $0.reachesEnd(bytes)) }
  }

  /// The signature is but two letters, so the fields behind it have to make sense too.
  private init?(_ bytes: ImageBytes) {
    switch bytes.little(14, width: 4) {
    case 12: self.init(short: bytes)
    case 40, 52, 56, 64, 108, 124: self.init(long: bytes)
    default: return nil
    }
  }

  private init?(short bytes: ImageBytes) {
    self.init(
      PixelSize(width: bytes.little(18, width: 2), height: bytes.little(20, width: 2)),
      planes: bytes.little(22, width: 2), bits: bytes.little(24, width: 2), compression: 0)
  }

  private init?(long bytes: ImageBytes) {
    self.init(
      PixelSize(width: bytes.littleSigned32(18), height: bytes.littleSigned32(22).map { abs($0) }),
      planes: bytes.little(26, width: 2), bits: bytes.little(28, width: 2),
      compression: bytes.little(30, width: 4))
  }

  private init?(_ size: PixelSize?, planes: Int?, bits: Int?, compression: Int?) {
    guard let size, planes == 1, let bits, 0...32 ~= bits, let compression else { return nil }
    self.size = size
    self.bitsPerPixel = bits
    self.compression = compression
  }

  /// Takes the stated size or counts the pixels: encoders that leave the former 0 are common.
  private func reachesEnd(_ bytes: ImageBytes) -> Bool {
    guard let stated = bytes.little(2, width: 4), let start = bytes.little(10, width: 4),
      let header = bytes.little(14, width: 4), start >= 14 + header, let length = pixelBytes(bytes),
      length > 0
    else { return false }
    return stated <= bytes.count && length <= bytes.count - start
  }

  /// Nil when it cannot be known or is out of bounds. Rows are padded to 4 bytes. 0, 3 and 6 are the
  /// compressions that do not compress.
  private func pixelBytes(_ bytes: ImageBytes) -> Int? {
    guard compression == 0 || compression == 3 || compression == 6 else { return bytes.little(34, width: 4) }
    let row = (size.width * bitsPerPixel + 31) / 32 * 4
    let (product, overflow) = row.multipliedReportingOverflow(by: size.height)
    return overflow ? nil : product
  }
}
