/// Lookups by name. They read the block where it lies: no `String` is made to compare names.
extension Headers {
  /// The first value of this name.
  func first(_ name: String) -> String? {
    firstBytes(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The first value of this name, as bytes of the block.
  func firstBytes(_ name: String) -> ArraySlice<UInt8>? {
    var position = 0
    return nextValue(name, from: &position).map { block[$0] }
  }

  /// Every value of this name, in order.
  func all(_ name: String) -> [String] {
    allBytes(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Every value of this name, in order, as bytes of the block.
  func allBytes(_ name: String) -> [ArraySlice<UInt8>] {
    var position = 0
    var values: [ArraySlice<UInt8>] = []
    while let value = nextValue(name, from: &position) { values.append(block[value]) }
    return values
  }

  /// Whether `test` says yes to one line, asked in order up to that one; a line's range ends with its CR.
  @inline(__always)
  func containsLine(where test: (_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool) -> Bool {
    let bytes = block.span
    var position = 0
    while let end = bytes.firstIndex(of: 0x0A, from: position) {
      if test(bytes, position..<end) { return true }
      position = end + 1
    }
    return false
  }

  /// Where the next value of this name lies, at or after the line that begins at `position`.
  func nextValue(_ name: String, from position: inout Int) -> Range<Int>? {
    let name = name.utf8Span.span
    let bytes = block.span
    while let end = bytes.firstIndex(of: 0x0A, from: position) {
      let start = position
      let colon = start + name.count
      position = end + 1
      if colon + 2 < end, bytes[colon] == 0x3A, bytes.equals(name, at: start) {
        return (colon + 2)..<(end - 1)
      }
    }
    return nil
  }
}
