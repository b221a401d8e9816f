extension HeaderFields {
  /// The fields in a stored block of lines; nil if a line is not `name: value` and CR LF.
  ///
  /// There is room for an Age line, which serving adds.
  init?(storedBlock bytes: RawSpan, _ range: Range<Int>) {
    let block = bytes.extracting(range).octets
    guard let count = Self.lines(of: block) else { return nil }
    self.init(block: block, count: count, spare: 24)
  }

  /// How many lines they are; nil if one is malformed.
  private static func lines(of text: Span<UInt8>) -> Int? {
    var (position, count) = (0, 0)
    while let end = text.firstIndex(of: 0x0A, from: position) {
      guard let colon = text.firstIndex(of: 0x3A, from: position), colon > position, colon + 3 <= end,
        text[colon + 1] == 0x20, text[end - 1] == 0x0D
      else { return nil }
      position = end + 1
      count += 1
    }
    return position == text.count ? count : nil
  }
}
