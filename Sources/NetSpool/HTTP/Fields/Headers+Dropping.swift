/// Filtering by name, on the lines as they lie in the block.
extension Headers {
  /// Without the lines whose name `isDropped` recognises: the same block if there are none.
  func dropping(where isDropped: (_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool) -> Headers {
    let bytes = block.span
    var kept = Headers()
    var copied = 0  // what lies before is in `kept`, or dropped
    var (start, lines) = (0, 0)
    while let end = bytes.firstIndex(of: 0x0A, from: start) {
      let colon = bytes.firstIndex(of: 0x3A, from: start) ?? end
      // A line without colon is no field, see `Iterator`.
      if colon + 2 < end, !isDropped(bytes, start..<colon) {
        lines += 1
      } else {
        if copied == 0 { kept.reserveCapacity(bytes.count) }
        kept.append(lines: bytes.extracting(copied..<start), count: 0)
        copied = end + 1
      }
      start = end + 1
    }
    guard copied > 0 else { return self }
    kept.append(lines: bytes.extracting(copied..<start), count: lines)
    return kept
  }

  /// Where the names of all fields lie in the block.
  var nameRanges: [Range<Int>] {
    let bytes = block.span
    var names: [Range<Int>] = []
    names.reserveCapacity(count)
    var start = 0
    while let end = bytes.firstIndex(of: 0x0A, from: start) {
      if let colon = bytes.firstIndex(of: 0x3A, from: start), colon + 2 < end { names.append(start..<colon) }
      start = end + 1
    }
    return names
  }
}
