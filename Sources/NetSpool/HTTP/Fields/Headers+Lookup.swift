/// Lookups by name. They read the block where it lies: no `String` is made to compare names.
extension Headers {
  /// The first value of this name.
  func first(_ name: String) -> String? { firstBytes(name).map { Self.text($0) } }

  /// The first value of this name, as bytes of the block.
  func firstBytes(_ name: String) -> ArraySlice<UInt8>? {
    var position = 0
    return nextValue(name, from: &position).map { block[$0] }
  }

  /// Every value of this name, in order.
  func all(_ name: String) -> [String] { allBytes(name).map { Self.text($0) } }

  /// A value that refers to a URL as text: bytes that are no UTF-8 are escaped as they are, since which coding they are in is
  /// the origin's affair.
  static func reference(_ value: ArraySlice<UInt8>) -> String {
    String(validating: value, as: UTF8.self) ?? PercentCoding.escaped(value) { $0 >= 0x80 }
  }

  /// A value as text: each byte a character where it is no UTF-8 (Latin-1, as RFC 9110 section 5.5 has it of old).
  static func text(_ value: some Collection<UInt8>) -> String {
    String(validating: value, as: UTF8.self)
      ?? String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
  }

  /// Every value of this name, in order, as bytes of the block.
  func allBytes(_ name: String) -> [ArraySlice<UInt8>] {
    var position = 0
    var values: [ArraySlice<UInt8>] = []
    while let value = nextValue(name, from: &position) { values.append(block[value]) }
    return values
  }

  /// True when `test` says yes to one line, asked in order up to that one; a line's range ends with its CR.
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

  /// Finds the next value of this name, at or after the line that begins at `position`.
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

/// Filtering by name, on the lines as they lie in the block.
extension Headers {
  /// Returns the fields without the lines whose name `isDropped` recognises: the same block if there are none.
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

  /// Returns the fields of which `isKept` says so, in their order.
  func keeping(where isKept: (Field) -> Bool) -> Headers {
    var kept = Headers()
    for field in self where isKept(field) { kept.append(name: field.nameBytes, value: field.valueBytes) }
    return kept
  }

  /// The ranges in the block at which the names of all fields lie.
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

extension Headers {
  /// The fields in a stored block of lines; nil if it does not end with a line's end.
  ///
  /// That its lines are what was stored is what the store's checksums are for; a line of another form would be
  /// a field that no lookup finds. There is room for an Age line, which serving adds.
  init?(storedBlock bytes: RawSpan, _ range: Range<Int>) {
    self.init()
    guard !range.isEmpty else { return }
    let block = bytes.extracting(range).octets
    guard block[block.count - 1] == 0x0A else { return nil }
    self.init(block: block, count: block.count(of: 0x0A), spare: 24)
  }

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
