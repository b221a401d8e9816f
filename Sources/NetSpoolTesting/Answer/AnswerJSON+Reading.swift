extension AnswerJSON {
  /// Reads a JSON text (RFC 8259); nil when it is none, or nested deeper than 200 levels.
  public init?(reading text: String) {
    var reader = JSONReader(Array(text.utf8))
    guard let value = reader.readDocument() else { return nil }
    self = value
  }

  /// The member of an object, the first of several; nil for others.
  public subscript(name: String) -> AnswerJSON? {
    if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
  }

  /// The elements of an array; none of others.
  public var elements: [AnswerJSON] { if case .array(let values) = self { values } else { [] } }

  /// A string's text; nil for others.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A whole number; nil for others.
  public var int: Int? { if case .int(let value) = self { value } else { nil } }
}

private struct JSONReader {
  private static let depthMax = 200

  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func readDocument() -> AnswerJSON? {
    guard let value = readValue() else { return nil }
    skipBlanks()
    // Not in one expression: `nil` would be null there.
    guard position == bytes.count else { return nil }
    return value
  }

  private mutating func skipBlanks() {
    while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ text: StaticString) -> Bool {
    let wanted = Array("\(text)".utf8)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func readValue() -> AnswerJSON? {
    skipBlanks()
    switch peek() {
    case UInt8(ascii: "{"): return nested { $0.readObject() }
    case UInt8(ascii: "["): return nested { $0.readArray() }
    case UInt8(ascii: "\""): return readString().map { .string($0) }
    case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return take("null") ? .null : nil
    default: return readNumber()
    }
  }

  private mutating func nested(_ read: (inout Self) -> AnswerJSON?) -> AnswerJSON? {
    guard depth < Self.depthMax else { return nil }
    depth += 1
    position += 1
    defer { depth -= 1 }
    return read(&self)
  }

  private mutating func readObject() -> AnswerJSON? {
    var members: [(name: String, value: AnswerJSON)] = []
    skipBlanks()
    if take("}") { return .object([]) }
    while true {
      skipBlanks()
      guard let name = readString() else { return nil }
      skipBlanks()
      guard take(":"), let value = readValue() else { return nil }
      members.append((name, value))
      skipBlanks()
      if take("}") { return .object(members) }
      guard take(",") else { return nil }
    }
  }

  private mutating func readArray() -> AnswerJSON? {
    var values: [AnswerJSON] = []
    skipBlanks()
    if take("]") { return .array([]) }
    while true {
      guard let value = readValue() else { return nil }
      values.append(value)
      skipBlanks()
      if take("]") { return .array(values) }
      guard take(",") else { return nil }
    }
  }

  private mutating func readNumber() -> AnswerJSON? {
    let start = position
    while let byte = peek(), "+-.eE0123456789".utf8.contains(byte) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if let value = Int(text), text.utf8.first != UInt8(ascii: "+") { return .int(value) }
    return Double(text).map { .number($0) }
  }

  private mutating func readString() -> String? {
    guard take("\"") else { return nil }
    var text: [UInt8] = []
    while let byte = peek() {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = readEscape() else { return nil }
        text += Array(String(Character(scalar)).utf8)
      case ..<0x20: return nil
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func readEscape() -> Unicode.Scalar? {
    guard let byte = peek() else { return nil }
    position += 1
    switch byte {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "u"): return readUnit()
    default: return nil
    }
  }

  /// Reads one UTF-16 unit, or two.
  private mutating func readUnit() -> Unicode.Scalar? {
    guard let first = readHex() else { return nil }
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
    guard take("\\u"), let second = readHex(), (0xDC00..<0xE000).contains(second) else { return nil }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private mutating func readHex() -> UInt32? {
    guard position + 4 <= bytes.count else { return nil }
    defer { position += 4 }
    return UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
  }
}
