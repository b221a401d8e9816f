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
