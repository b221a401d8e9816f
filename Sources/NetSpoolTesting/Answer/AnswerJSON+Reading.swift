extension AnswerJSON {
  /// Reads a JSON text (RFC 8259); nil when it is none, or nested deeper than 200 levels.
  public init?(reading text: String) {
    var scanner = JSONScanner(Array(text.utf8)[...])
    scanner.skipBlanks()
    do {
      self = try AnswerJSON(&scanner)
      try scanner.end()
    } catch { return nil }
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

  private static let depthMax = 200

  /// - Parameter depth: how many arrays and objects it stands in.
  private init(_ scanner: inout JSONScanner, depth: Int = 0) throws {
    if depth == Self.depthMax, scanner.begins(with: "[") || scanner.begins(with: "{") {
      throw JSONScanner.Malformed()
    }
    switch scanner.peek() {
    case UInt8(ascii: "{"):
      var members: [(name: String, value: AnswerJSON)] = []
      try scanner.object { members.append(($0, try AnswerJSON(&$1, depth: depth + 1))) }
      self = .object(members)
    case UInt8(ascii: "["):
      var values: [AnswerJSON] = []
      try scanner.array { values.append(try AnswerJSON(&$0, depth: depth + 1)) }
      self = .array(values)
    case UInt8(ascii: "\""): self = .string(try scanner.string())
    default: self = try Self.plain(scanner.word())
    }
  }

  private static func plain(_ word: String) throws -> AnswerJSON {
    switch word {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      guard isNumber(word), let value = Double(word) else { throw JSONScanner.Malformed() }
      if let whole = Int(word) { return .int(whole) }
      return .number(value)
    }
  }

  /// Not all that `Double` reads is a number here (section 6): no words, no plus and no zeros before it, and
  /// digits on both sides of its point.
  private static func isNumber(_ word: String) -> Bool {
    let digits = word.utf8.drop { $0 == UInt8(ascii: "-") }
    let sides = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let startsAsOne = digits.first != UInt8(ascii: "0") || !isDigit(digits.dropFirst().first)
    return startsAsOne && sides.allSatisfy { isDigit($0.first) }
      && digits.allSatisfy { isDigit($0) || "+-.eE".utf8.contains($0) }
  }

  private static func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 &- 0x30 < 10 } ?? false }
}
