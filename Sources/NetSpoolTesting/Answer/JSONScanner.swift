/// Reads JSON (RFC 8259) without building a tree: the caller takes the fields it wants and skips the rest. The tool reads
/// its lists and results with it. Every malformed text throws; nesting is limited, so hostile input cannot exhaust the stack.
package struct JSONScanner {
  package struct Malformed: Error {
    package init() {}
  }

  private static let depthMax = 32

  private let bytes: ArraySlice<UInt8>
  private var at: Int

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    at = bytes.startIndex
  }

  /// Calls `field` with each key; it must consume the value. Nothing may follow the object.
  package mutating func wholeObject(_ field: (String, inout JSONScanner) throws -> Void) throws {
    try object(field)
    try end()
  }

  /// Throws unless nothing follows.
  mutating func end() throws {
    skipBlanks()
    guard at == bytes.endIndex else { throw Malformed() }
  }

  package mutating func object(_ field: (String, inout JSONScanner) throws -> Void) throws {
    try expect(UInt8(ascii: "{"))
    if accept(UInt8(ascii: "}")) { return }
    repeat {
      skipBlanks()
      let key = try string()
      try expect(UInt8(ascii: ":"))
      skipBlanks()
      try field(key, &self)
    } while accept(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  package mutating func string() throws -> String {
    try expect(UInt8(ascii: "\""))
    var run = try plainRun()
    var text: [UInt8]?
    while try next() == UInt8(ascii: "\\") {
      var unescaped = text ?? []
      unescaped.append(contentsOf: run)
      try unescape(into: &unescaped)
      text = unescaped
      run = try plainRun()
    }
    let string =
      text.map { String(validating: $0 + run, as: UTF8.self) } ?? String(validating: run, as: UTF8.self)
    guard let string else { throw Malformed() }
    return string
  }

  /// The bytes up to the next quote or backslash, which most strings reach at their end only.
  private mutating func plainRun() throws -> ArraySlice<UInt8> {
    let start = at
    while at < bytes.endIndex {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return bytes[start..<at] }
      if byte < 0x20 { break }
      at += 1
    }
    throw Malformed()
  }

  package mutating func integer() throws -> Int64 {
    guard let value = Int64(word()) else { throw Malformed() }
    return value
  }

  /// Takes a value as it stands. Words that are no JSON, such as Python's `NaN`, become `null`.
  package mutating func rawValue() throws -> [UInt8] {
    skipBlanks()
    let start = at
    try skipValue()
    let value = bytes[start..<at]
    let isWord = value.first.map { $0 != 0x2D && $0 &- 0x30 > 9 && !"\"{[".utf8.contains($0) } ?? true
    let isKnown = ["true", "false", "null"].contains { value.elementsEqual($0.utf8) }
    return isWord && !isKnown ? Array("null".utf8) : Array(value)
  }

  package mutating func skipValue(depth: Int = 0) throws {
    guard depth < Self.depthMax, let byte = peek() else { throw Malformed() }
    switch byte {
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "{"): try object { _, scanner in try scanner.skipValue(depth: depth + 1) }
    case UInt8(ascii: "["): try array { try $0.skipValue(depth: depth + 1) }
    default:
      let token = word()
      guard ["true", "false", "null"].contains(token) || Double(token) != nil else { throw Malformed() }
    }
  }

  private mutating func skipString() throws {
    try expect(UInt8(ascii: "\""))
    _ = try plainRun()
    while try next() == UInt8(ascii: "\\") {
      var ignored: [UInt8] = []
      try unescape(into: &ignored)
      _ = try plainRun()
    }
  }

  /// Calls `element` where each begins; it must consume it.
  package mutating func array(_ element: (inout JSONScanner) throws -> Void) throws {
    try expect(UInt8(ascii: "["))
    if accept(UInt8(ascii: "]")) { return }
    repeat {
      skipBlanks()
      try element(&self)
    } while accept(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }

  /// A number, or `true`, `false` or `null`; perhaps no JSON.
  mutating func word() -> String {
    let start = at
    while let byte = peek(), byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "+-.".utf8.contains(byte) {
      at += 1
    }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  private mutating func unescape(into text: inout [UInt8]) throws {
    switch try next() {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try escapedScalar())).utf8)
    case let byte where "\"\\/".utf8.contains(byte): text.append(byte)
    default: throw Malformed()
    }
  }

  /// Four hex digits, or two groups of them that make a surrogate pair.
  private mutating func escapedScalar() throws -> Unicode.Scalar {
    var value = try fourHexDigits()
    if 0xD800..<0xDC00 ~= value {
      guard try next() == UInt8(ascii: "\\"), try next() == UInt8(ascii: "u") else { throw Malformed() }
      let low = try fourHexDigits()
      guard 0xDC00..<0xE000 ~= low else { throw Malformed() }
      value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(value) else { throw Malformed() }
    return scalar
  }

  private mutating func fourHexDigits() throws -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(try next())).hexDigitValue else { throw Malformed() }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// True if the value begins so: `"` is a string's, `[` an array's, `n` that of `null`.
  package func begins(with mark: Unicode.Scalar) -> Bool { peek() == UInt8(ascii: mark) }
  func peek() -> UInt8? { at < bytes.endIndex ? bytes[at] : nil }

  private mutating func next() throws -> UInt8 {
    guard let byte = peek() else { throw Malformed() }
    at += 1
    return byte
  }

  mutating func skipBlanks() {
    while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A { at += 1 }
  }

  private mutating func accept(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard peek() == byte else { return false }
    at += 1
    return true
  }

  private mutating func expect(_ byte: UInt8) throws { guard accept(byte) else { throw Malformed() } }
}
