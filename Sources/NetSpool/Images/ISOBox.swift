/// One box of an ISO base media file (ISO/IEC 14496-12 section 4.2): size (4 bytes, big-endian, header
/// included), type (4). A size of 1 means that the true one follows in 8 bytes, of 0 that the box takes all
/// that is left.
struct ISOBox {
  let type: FourCC
  /// What lies behind the header, as far as it is there.
  let content: Range<Int>
  /// The box ends where its size says, within its surroundings.
  let isWhole: Bool

  /// Nil without a readable header at `offset`.
  init?(_ bytes: ImageBytes, at offset: Int, limit: Int) {
    guard let short = bytes.big(offset, width: 4), let type = bytes.code(offset + 4) else { return nil }
    let header = short == 1 ? 16 : 8
    let size = short == 1 ? bytes.big(offset + 8, width: 8) : short == 0 ? limit - offset : short
    guard let size, size >= header, offset + header <= limit else { return nil }
    self.type = type
    isWhole = size <= limit - offset
    content = offset + header..<(isWhole ? offset + size : limit)
  }

  /// The first whole box of a type among those that fill a range.
  static func first(_ type: FourCC, in range: Range<Int>, _ bytes: ImageBytes) -> ISOBox? {
    var offset = range.lowerBound
    while let box = ISOBox(bytes, at: offset, limit: range.upperBound), box.isWhole {
      if box.type == type { return box }
      offset = box.content.upperBound
    }
    return nil
  }

  /// Version and flags of a full box, whose content begins with them, and where the rest begins.
  func full(_ bytes: ImageBytes) -> (version: UInt8, flags: Int, body: Range<Int>)? {
    guard content.count >= 4, let version = bytes.byte(content.lowerBound),
      let flags = bytes.big(content.lowerBound + 1, width: 3)
    else { return nil }
    return (version, flags, content.lowerBound + 4..<content.upperBound)
  }
}
