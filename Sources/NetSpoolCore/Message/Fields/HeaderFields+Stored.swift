extension HeaderFields {
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
