/// Named values in groups, as a table for people and as JSON: what `doctor` and `cache stats` say.
struct FactSheet {
  enum Value: Equatable {
    case text(String)
    /// A number and its unit; empty where it is a count.
    case number(Int, _ unit: String = "")
    /// Not there, or without a limit.
    case none(String)

    static func text(_ text: String?, or none: String) -> Value { text.map { .text($0) } ?? .none(none) }
    static func bytes(_ count: Int?, or none: String) -> Value {
      count.map { .number($0, "bytes") } ?? .none(none)
    }

    fileprivate var text: String {
      switch self {
      case .text(let text), .none(let text): text
      case .number(let number, "bytes"): HumanText.bytes(Int64(number))
      case .number(let number, ""): HumanText.count(number)
      case .number(let number, let unit): "\(HumanText.count(number)) \(unit)"
      }
    }
  }

  typealias Entries = [(name: String, value: Value)]

  let groups: [(name: String, entries: Entries)]

  func print(asJSON: Bool) throws(IOFailure) -> JobStatus {
    try StandardOutput.write(asJSON ? json : Array(text.utf8))
    return .allDone
  }

  private var text: String {
    groups.map { "\($0.name)\n" + HumanText.table($0.entries.map { ["  \($0.name)", $0.value.text] }) }
      .joined(separator: "\n")
  }

  /// An object with an object for each group; numbers carry their unit in their name: `timeoutSeconds`.
  private var json: [UInt8] {
    JSONText.object { json in
      for group in groups {
        json.object(group.name) { json in
          for entry in group.entries { Self.write(entry.name, entry.value, to: &json) }
        }
      }
    } + [0x0A]
  }

  private static func write(_ name: String, _ value: Value, to json: inout JSONText) {
    let words = name.split(separator: " ").map(String.init)
    let key = words.prefix(1).joined() + words.dropFirst().map(\.capitalisedFirst).joined()
    switch value {
    case .text(let text): json.field(key, text)
    case .number(let number, let unit): json.field(key + unit.capitalisedFirst, number)
    case .none: break
    }
  }
}

extension String { fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() } }

/// Numbers as people read them. No locale: the same text on every machine.
enum HumanText {
  /// Text of others that can neither steer a terminal nor turn the writing direction: control characters (C0 but for
  /// line feeds, DEL, C1) and the marks of directions come out as `\u{9B}`.
  static func harmless(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else { return text }
    var output = ""
    for scalar in text.unicodeScalars {
      if scalar != "\n", isHarmful(scalar) {
        output += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        output.unicodeScalars.append(scalar)
      }
    }
    return output
  }

  static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Columns as wide as their widest entry; the last one goes on to the end of the line.
  static func table(_ rows: [[String]]) -> String {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].utf8.count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).dropLast().map { $0 + String(repeating: " ", count: $1 - $0.utf8.count) }
      return (cells + row.suffix(1)).joined(separator: "  ") + "\n"
    }.joined()
  }

  /// `1 error`, `2 errors`.
  static func plural(_ number: Int, _ one: String, _ many: String) -> String {
    "\(count(number)) \(number == 1 ? one : many)"
  }

  /// `1234567` as `1,234,567`.
  static func count(_ value: Int) -> String {
    var groups: [String] = []
    var rest = value.magnitude
    while rest >= 1_000 {
      groups.append(padded(Int(rest % 1_000), to: 3, with: "0"))
      rest /= 1_000
    }
    groups.append(String(rest))
    return (value < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
  }

  /// `6815744` as `6.5 MiB`.
  static func bytes(_ value: Int64) -> String {
    if value < 1_024 { return "\(value) B" }
    var amount = Double(value)
    var unit = -1
    while amount >= 1_023.95, unit < units.count - 1 {
      amount /= 1_024
      unit += 1
    }
    return "\(decimal(amount)) \(units[unit])"
  }

  /// Seconds as `0:07`, `12:34` or `1:02:03`.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(min(max(seconds, 0), 3.6e6 * 9).rounded())
    let tail = padded(whole % 60, to: 2, with: "0")
    let minutes = whole / 60
    if minutes < 60 { return "\(minutes):\(tail)" }
    return "\(minutes / 60):\(padded(minutes % 60, to: 2, with: "0")):\(tail)"
  }

  /// A rate: one digit after the point below 10, none above.
  static func rate(_ perSecond: Double) -> String {
    perSecond < 9.95 ? decimal(perSecond) : count(Int(perSecond.rounded()))
  }

  static func decimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  static func padded(_ value: some LosslessStringConvertible, to width: Int, with fill: Character = " ")
    -> String
  {
    let text = String(value)
    return String(repeating: fill, count: max(0, width - text.utf8.count)) + text
  }

  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
}
