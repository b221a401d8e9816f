#if Images
/// A WebP file (RFC 9649): "RIFF", the number of bytes that follow, "WEBP", then chunks: a name of 4 bytes, the number of
/// bytes that follow, those, and a zero where their number is odd. Numbers have 4 bytes, the low one first.
///
/// Files with more than a picture begin with `VP8X`, whose first byte says what there is.
enum WebPMetadata {
  private static let headerBytes = 12
  private static let names: Set<String> = ["EXIF", "XMP ", "ICCP"]
  /// In the first byte of `VP8X`: profile, EXIF and XMP.
  private static let flags: UInt8 = 0x20 | 0x08 | 0x04

  /// Takes it out: libvips writes EXIF of its own, whatever it is told. What is no WebP file comes back as it is.
  static func removed(from file: [UInt8]) -> [UInt8] {
    var plain = Array(file.prefix(headerBytes))
    var offset = headerBytes
    while offset < file.count {
      guard let chunk = chunk(file, at: offset) else { return file }
      let name = String(decoding: file[offset..<offset + 4], as: UTF8.self)
      if !names.contains(name) {
        let start = plain.count
        plain += file[chunk]
        if name == "VP8X" { plain[start + 8] &= ~flags }
      }
      offset = chunk.upperBound
    }
    let bytes = UInt32(plain.count - 8)
    for index in 0..<4 { plain[4 + index] = UInt8(truncatingIfNeeded: bytes >> (8 * index)) }
    return plain
  }

  /// Header and filling included; nil when it is not all there.
  private static func chunk(_ file: [UInt8], at offset: Int) -> Range<Int>? {
    guard file.count - offset > 8 else { return nil }
    let bytes = (0..<4).reduce(0) { $0 | Int(file[offset + 4 + $1]) << (8 * $1) }
    let end = offset + 8 + bytes + bytes % 2
    return end <= file.count ? offset..<end : nil
  }
}
#endif
