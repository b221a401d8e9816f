extension Headers {
  /// The fields in a stored block of lines; nil if it does not end with a line's end.
  ///
  /// That its lines are what was stored is what the store's checksums are for; a line of another form would be
  /// a field that nobody finds. There is room for an Age line, which serving adds.
  init?(storedBlock bytes: RawSpan, _ range: Range<Int>) {
    self.init()
    guard !range.isEmpty else { return }
    let block = bytes.extracting(range).octets
    guard block[block.count - 1] == 0x0A else { return nil }
    self.init(block: block, count: block.count(of: 0x0A), spare: 24)
  }
}

extension Headers {
  /// Appends the age, not less than 0, in one piece: every hit has one.
  mutating func append(age seconds: Int64) {
    var line = InlineArray<32, UInt8>(repeating: 0)
    (line[31], line[30]) = (0x0A, 0x0D)
    var start = 30
    var rest = UInt64(seconds.magnitude)
    repeat {
      start -= 1
      line[start] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
      rest /= 10
    } while rest > 0
    for byte in " :egA".utf8 {
      start -= 1
      line[start] = byte
    }
    append(lines: line.span.extracting(start..<32), count: 1)
  }
}
