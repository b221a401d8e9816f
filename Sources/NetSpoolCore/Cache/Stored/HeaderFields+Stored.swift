extension HeaderFields {
  /// The fields in a stored block of lines; nil if a line is not `name: value` and CR LF.
  ///
  /// There is room for an Age line, which serving adds.
  init?(storedBlock bytes: RawSpan, _ range: Range<Int>) {
    self.init()
    guard !range.isEmpty else { return }
    reserveCapacity(range.count + 24)
    guard appendLines(of: bytes.extracting(range).octets) else { return nil }
  }

  private mutating func appendLines(of text: Span<UInt8>) -> Bool {
    var position = 0
    while let end = text.firstIndex(of: 0x0A, from: position) {
      let line = text.extracting(position..<(end + 1))
      guard let colon = line.firstIndex(of: 0x3A), colon > 0, colon + 3 < line.count,
        line[colon + 1] == 0x20, line[line.count - 2] == 0x0D
      else { return false }
      append(line, colon: colon, value: (colon + 2)..<(line.count - 2))
      position = end + 1
    }
    return position == text.count
  }
}
