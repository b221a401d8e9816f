/// Builds one JSON object as bytes (RFC 8259). Reused from line to line, so a result costs no allocation.
struct JSONText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  static func object(_ fields: (inout JSONText) -> Void) -> [UInt8] {
    var json = JSONText()
    json.beginObject()
    fields(&json)
    json.endObject()
    return json.bytes
  }

  mutating func beginObject() { begin("{") }
  mutating func endObject() { end("}") }

  private mutating func begin(_ mark: Unicode.Scalar) {
    bytes.append(UInt8(ascii: mark))
    needsComma = false
  }

  private mutating func end(_ mark: Unicode.Scalar) {
    bytes.append(UInt8(ascii: mark))
    needsComma = true
  }

  /// What stands inside of an array: a text, or what a closure writes.
  mutating func element(_ text: String? = nil, _ fields: (inout JSONText) -> Void = { _ in }) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    if let text { return append(quoted: text) }
    beginObject()
    fields(&self)
    endObject()
  }

  mutating func object(_ name: String, _ fields: (inout JSONText) -> Void) {
    key(name)
    beginObject()
    fields(&self)
    endObject()
  }

  mutating func array(_ name: String, _ elements: (inout JSONText) -> Void) {
    key(name)
    begin("[")
    elements(&self)
    end("]")
  }

  mutating func endLine() { bytes.append(0x0A) }

  mutating func key(_ name: String) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    append(quoted: name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = true
  }

  mutating func field(_ name: String, _ value: String) {
    key(name)
    append(quoted: value)
  }

  /// - Parameter value: JSON.
  mutating func field(_ name: String, raw value: [UInt8]) {
    key(name)
    bytes += value
  }

  static func quoted(_ text: String) -> [UInt8] {
    var json = JSONText()
    json.append(quoted: text)
    return json.bytes
  }

  mutating func field(_ name: String, _ value: some BinaryInteger) {
    key(name)
    bytes.append(contentsOf: String(value).utf8)
  }

  /// `1500` as `1.5`.
  mutating func field(_ name: String, thousandths value: Int64) {
    key(name)
    bytes.append(contentsOf: String(value / 1_000).utf8)
    var digits = HumanText.padded(Int(abs(value % 1_000)), to: 3, with: "0")
    while digits.hasSuffix("0") { digits.removeLast() }
    if !digits.isEmpty { bytes.append(contentsOf: ".\(digits)".utf8) }
  }

  mutating func field(_ name: String, _ value: Bool) {
    key(name)
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Left out when nil: a reader then finds no key, which every tool can tell from an empty value.
  mutating func field(_ name: String, _ value: String?) { if let value { field(name, value) } }
  mutating func field(_ name: String, _ value: Int?) { if let value { field(name, value) } }

  private mutating func append(quoted text: String) {
    bytes.append(UInt8(ascii: "\""))
    // C1 and the marks of directions are three bytes at most, of which these are the first.
    if text.utf8.contains(where: { $0 == 0xC2 || $0 == 0xE2 }) {
      for scalar in text.unicodeScalars { append(escaping: scalar) }
    } else {
      for byte in text.utf8 { append(escaping: byte) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func append(escaping scalar: Unicode.Scalar) {
    if scalar.value < 0x80 || !HumanText.isHarmful(scalar) {
      for byte in String(Character(scalar)).utf8 { append(escaping: byte) }
    } else {
      bytes.append(contentsOf: "\\u".utf8)
      for shift in [12, 8, 4, 0] { bytes.append(Self.hexDigits[Int(scalar.value >> shift & 15)]) }
    }
  }

  private mutating func append(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
    case 0x0A: bytes.append(contentsOf: "\\n".utf8)
    case 0x0D: bytes.append(contentsOf: "\\r".utf8)
    case 0x09: bytes.append(contentsOf: "\\t".utf8)
    case 0..<0x20, 0x7F:
      bytes.append(contentsOf: "\\u00".utf8)
      bytes.append(contentsOf: [Self.hexDigits[Int(byte >> 4)], Self.hexDigits[Int(byte & 15)]])
    default: bytes.append(byte)
    }
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)
}

/// Reads one line of JSON Lines without building a tree: the caller takes the fields it wants and skips
/// the rest. Every malformed text throws; nesting is limited, so hostile input cannot exhaust the stack.
struct JSONScanner {
  struct Malformed: Error {}

  static let depthMax = 32

  private let bytes: ArraySlice<UInt8>
  private var at: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    at = bytes.startIndex
  }

  /// Calls `field` with each key; it must consume the value. Nothing may follow the object.
  mutating func wholeObject(_ field: (String, inout JSONScanner) throws -> Void) throws {
    try object(field)
    skipBlanks()
    guard at == bytes.endIndex else { throw Malformed() }
  }

  mutating func object(_ field: (String, inout JSONScanner) throws -> Void) throws {
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

  mutating func string() throws -> String {
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

  mutating func integer() throws -> Int64 {
    guard let value = Int64(word()) else { throw Malformed() }
    return value
  }

  /// Takes a value as it stands. Words that are no JSON, such as Python's `NaN`, become `null`.
  mutating func rawValue() throws -> [UInt8] {
    skipBlanks()
    let start = at
    try skipValue()
    let value = bytes[start..<at]
    let isWord = value.first.map { $0 != 0x2D && $0 &- 0x30 > 9 && !"\"{[".utf8.contains($0) } ?? true
    let isKnown = ["true", "false", "null"].contains { value.elementsEqual($0.utf8) }
    return isWord && !isKnown ? Array("null".utf8) : Array(value)
  }

  mutating func skipValue(depth: Int = 0) throws {
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
  mutating func array(_ element: (inout JSONScanner) throws -> Void) throws {
    try expect(UInt8(ascii: "["))
    if accept(UInt8(ascii: "]")) { return }
    repeat {
      skipBlanks()
      try element(&self)
    } while accept(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }

  private mutating func word() -> String {
    let start = at
    while let byte = peek(), byte.isAlphanumeric(or: "+-.") { at += 1 }
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
  func begins(with mark: Unicode.Scalar) -> Bool { peek() == UInt8(ascii: mark) }
  private func peek() -> UInt8? { at < bytes.endIndex ? bytes[at] : nil }

  private mutating func next() throws -> UInt8 {
    guard let byte = peek() else { throw Malformed() }
    at += 1
    return byte
  }

  private mutating func skipBlanks() {
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
