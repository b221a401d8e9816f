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
      if let value = Int(word), word.utf8.first != UInt8(ascii: "+") { return .int(value) }
      // `Double` reads words such as `nan` as well.
      guard word.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }), let value = Double(word) else {
        throw JSONScanner.Malformed()
      }
      return .number(value)
    }
  }
}
