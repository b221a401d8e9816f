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

  /// Whether the walk goes on.
  private mutating func take(_ code: UInt8, _ bytes: ImageBytes) -> Bool {
    switch code {
    case 0x01, 0xD0...0xD7: return true  // TEM, RSTn: nothing follows
    case 0xD9: reachesEnd = hasScan  // EOI
    case 0x02...0xBF, 0xD8: break  // reserved, or a second SOI: damage
    case 0xC4, 0xC8, 0xCC: return skipSegment(bytes)  // DHT, JPG, DAC
    case 0xC0...0xCF: return takeFrame(bytes)  // SOFn
    case 0xDA: return takeScan(bytes)  // SOS
    default: return skipSegment(bytes)
    }
    return false
  }

  /// Frame header: length, precision (1 byte), height, width. A second one is damage.
  private mutating func takeFrame(_ bytes: ImageBytes) -> Bool {
    guard size == nil else { return false }
    size = PixelSize(
      width: bytes.big(offset + 5, width: 2), height: bytes.big(offset + 3, width: 2))
    return size != nil && skipSegment(bytes)
  }

  private mutating func takeScan(_ bytes: ImageBytes) -> Bool {
    hasScan = size != nil
    return hasScan && skipSegment(bytes)
  }

  private mutating func skipSegment(_ bytes: ImageBytes) -> Bool {
    guard let length = bytes.big(offset, width: 2), length >= 2 else { return false }
    offset += length
    return offset <= bytes.count
  }
}
