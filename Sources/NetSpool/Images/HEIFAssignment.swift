/// The properties that `ipma` assigns to one item (ISO/IEC 23008-12 section 9.3).
///
/// Full box; number of entries (4 bytes); each: item id (2 bytes in version 0, else 4), number of
/// associations (1), associations of 1 byte, or of 2 with flag 1, whose top bit says "essential" and the rest
/// is the property's number. The list is read in place each time: at most 255 entries.
struct HEIFAssignment {
  private let start: Int
  private let count: Int
  private let width: Int

  /// Looks for the item in all `ipma` boxes of the range.
  init?(of item: Int, in range: Range<Int>, _ bytes: ImageBytes) {
    var rest = range
    while let box = ISOBox.first("ipma", in: rest, bytes) {
      if let found = Self(of: item, in: box, bytes) {
        self = found
        return
      }
      rest = box.content.upperBound..<range.upperBound
    }
    return nil
  }

  private init?(of item: Int, in ipma: ISOBox, _ bytes: ImageBytes) {
    guard let (version, flags, body) = ipma.full(bytes) else { return nil }
    let idWidth = version == 0 ? 2 : 4
    width = flags & 1 == 0 ? 1 : 2
    var offset = body.lowerBound + 4
    while offset < body.upperBound, let id = bytes.big(offset, width: idWidth),
      let count = bytes.byte(offset + idWidth)
    {
      let next = offset + idWidth + 1 + Int(count) * width
      if id == item && next <= body.upperBound {
        self.count = Int(count)
        start = next - Int(count) * width
        return
      }
      offset = next
    }
    return nil
  }

  func contains(_ number: Int, _ bytes: ImageBytes) -> Bool {
    let mask = width == 1 ? 0x7F : 0x7FFF
    return (0..<count).contains { index in
      bytes.big(start + index * width, width: width).map { $0 & mask == number } ?? false
    }
  }
}
