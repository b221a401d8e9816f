/// JSON for answers, written as Swift: `.json(["id": 7, "tags": ["a", "b"], "next": .null])`. Objects keep their order.
public indirect enum AnswerJSON: Sendable, Hashable {
  /// `null`
  case null
  /// `true` or `false`
  case bool(Bool)
  /// A number without a fraction.
  case int(Int)
  /// A number; one that is not finite becomes `null`.
  case number(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([AnswerJSON])
  /// An object; names may repeat.
  case object([(name: String, value: AnswerJSON)])

  /// The text (RFC 8259), without blanks.
  public var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): "\(value)"
    case .number(let value): value.isFinite ? "\(value)" : "null"
    case .string(let value): Self.quoted(value)
    case .array(let values): "[\(values.map(\.text).joined(separator: ","))]"
    case .object(let members):
      "{\(members.map { "\(Self.quoted($0.name)):\($0.value.text)" }.joined(separator: ","))}"
    }
  }

  private static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  /// Compares the texts.
  public static func == (a: AnswerJSON, b: AnswerJSON) -> Bool { a.text == b.text }
  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension AnswerJSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `true` and `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .int(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral values: AnswerJSON...) { self = .array(values) }
  /// An object.
  public init(dictionaryLiteral members: (String, AnswerJSON)...) {
    self = .object(members.map { ($0.0, $0.1) })
  }
}

extension Answer {
  /// 200 with this value, `application/json`.
  public static func json(_ value: AnswerJSON, status: Int = 200) -> Answer {
    typed("application/json", .text(value.text), status)
  }

  /// 200 with these bytes, which are JSON already, `application/json`: `.json(bytes: [UInt8](try JSONEncoder().encode(user)))`.
  public static func json(bytes: [UInt8], status: Int = 200) -> Answer {
    typed("application/json", .bytes(bytes), status)
  }
}
