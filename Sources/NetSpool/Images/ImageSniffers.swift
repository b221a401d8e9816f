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

/// JPEG (ITU-T T.81 annex B): baseline, extended, progressive, lossless; Huffman or arithmetic coded.
///
/// Markers of two bytes (FF, code), most with a segment behind them whose first two bytes are its length,
/// themselves included. Behind the segment of SOS come entropy-coded bytes of unstated length, in which FF is
/// followed by 00 or by a restart marker; the first other marker ends them. EOI ends the file. The size stands
/// in the frame header (SOF). A file that gives its height only behind the first scan (DNL) has none
/// there and is not taken for an image: common decoders refuse it too.
///
/// A thumbnail inside an EXIF segment has an EOI of its own; it lies inside a segment and is skipped with it.
struct JPEGSniffer {
  private var offset = 2
  private var size: PixelSize?
  private var hasScan = false
  private var reachesEnd = false

  static func sniff(_ bytes: ImageBytes) -> ImageInfo? {
    var sniffer = Self()
    while let code = sniffer.nextMarker(bytes), sniffer.take(code, bytes) {}
    return sniffer.size.map { ImageInfo(format: .jpeg, pixelSize: $0, isComplete: sniffer.reachesEnd) }
  }

  /// The code of the next marker, with `offset` moved behind it. Bytes before it are passed over: they are
  /// entropy-coded, or stray ones, which decoders forgive. So is fill (FF before a marker).
  private mutating func nextMarker(_ bytes: ImageBytes) -> UInt8? {
    while let start = bytes.firstIndex(of: 0xFF, from: offset), let code = bytes.byte(start + 1) {
      offset = code == 0xFF ? start + 1 : start + 2
      if code != 0x00 && code != 0xFF { return code }
    }
    return nil
  }

  /// True when the walk goes on.
  private mutating func take(_ code: UInt8, _ bytes: ImageBytes) -> Bool {
    switch code {
    case 0x01, 0xD0...0xD7: return true  // TEM, RSTn: nothing follows
    case 0xD9: reachesEnd = hasScan  // EOI
    case 0x02...0xBF, 0xD8: break  // reserved, or a second SOI: damage
    case 0xC4, 0xC8, 0xCC: return skipSegment(bytes)  // DHT, JPG, DAC
    case 0xC0...0xCF: return takeFrame(bytes)  // SOFn
    case 0xDA:  // SOS
      hasScan = size != nil
      return hasScan && skipSegment(bytes)
    default: return skipSegment(bytes)
    }
    return false
  }

  /// Frame header: length, precision (1 byte), height, width. A second one is damage.
  private mutating func takeFrame(_ bytes: ImageBytes) -> Bool {
    guard size == nil else { return false }
    size = PixelSize(width: bytes.big(offset + 5, width: 2), height: bytes.big(offset + 3, width: 2))
    return size != nil && skipSegment(bytes)
  }

  private mutating func skipSegment(_ bytes: ImageBytes) -> Bool {
    guard let length = bytes.big(offset, width: 2), length >= 2 else { return false }
    offset += length
    return offset <= bytes.count
  }
}

/// GIF (version 87a and 89a), animated ones included.
///
/// `GIF87a` or `GIF89a`; the logical screen: width, height (2 bytes each, little-endian), flags, background,
/// aspect; a colour table if flag 80 is set, 3 * 2^(flags & 7 + 1) bytes; then blocks:
/// - 2C image: position and size (8 bytes), flags, colour table likewise, code size (1 byte), sub-blocks
/// - 21 extension: label (1 byte), sub-blocks
/// - 3B trailer: the end
/// Sub-blocks are a length byte and so many bytes, up to one of length 0.
///
/// Some old encoders left the trailer out. Such a file is the same as one that lost its last byte, or all its
/// later frames, so it is not complete.
struct GIFSniffer {
  private var offset = 13
  private var hasImage = false

  static func sniff(_ bytes: ImageBytes) -> ImageInfo? {
    guard let version = bytes.big(4, width: 2), version == 0x3761 || version == 0x3961 else { return nil }
    let size = PixelSize(width: bytes.little(6, width: 2), height: bytes.little(8, width: 2))
    guard let size, let flags = bytes.byte(10) else { return nil }
    var sniffer = Self()
    sniffer.skipColours(flags)
    guard sniffer.beginsBlock(bytes) else { return nil }
    return ImageInfo(format: .gif, pixelSize: size, isComplete: sniffer.reachesEnd(bytes))
  }

  /// The signature is text, so it may begin a text. No text goes on with a block where one has to be.
  private func beginsBlock(_ bytes: ImageBytes) -> Bool {
    switch bytes.byte(offset) {
    case 0x21, 0x2C, 0x3B: true
    default: false
    }
  }

  private mutating func reachesEnd(_ bytes: ImageBytes) -> Bool {
    while let introducer = bytes.byte(offset) {
      switch introducer {
      case 0x21: offset += 2
      case 0x2C: guard skipImageHeader(bytes) else { return false }
      case 0x3B: return hasImage
      default: return false
      }
      guard skipSubBlocks(bytes) else { return false }
    }
    return false
  }

  private mutating func skipImageHeader(_ bytes: ImageBytes) -> Bool {
    guard let flags = bytes.byte(offset + 9) else { return false }
    offset += 10
    skipColours(flags)
    offset += 1
    hasImage = true
    return true
  }

  private mutating func skipColours(_ flags: UInt8) {
    if flags & 0x80 != 0 { offset += 3 << (Int(flags & 7) + 1) }
  }

  private mutating func skipSubBlocks(_ bytes: ImageBytes) -> Bool {
    while let length = bytes.byte(offset) {
      offset += 1 + Int(length)
      if length == 0 { return true }
    }
    return false
  }
}

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
    case 12:
      self.init(
        PixelSize(width: bytes.little(18, width: 2), height: bytes.little(20, width: 2)),
        planes: bytes.little(22, width: 2), bits: bytes.little(24, width: 2), compression: 0)
    case 40, 52, 56, 64, 108, 124:
      self.init(
        PixelSize(width: bytes.littleSigned32(18), height: bytes.littleSigned32(22).map { abs($0) }),
        planes: bytes.little(26, width: 2), bits: bytes.little(28, width: 2),
        compression: bytes.little(30, width: 4))
    default: return nil
    }
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
