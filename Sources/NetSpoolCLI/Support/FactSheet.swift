/// Named values in groups, as a table for people and as JSON: what `doctor` and `cache stats` say.
struct FactSheet {
  enum Value: Equatable {
    case text(String)
    /// A number and its unit; empty where it is a count.
    case number(Int, unit: String)
    /// Not there, or without a limit.
    case none(String)
  }

  struct Group {
    let name: String
    let entries: [(name: String, value: Value)]
  }

  let groups: [Group]

  /// A table for people.
  var text: String {
    groups.map { group in
      let width = group.entries.map(\.name.utf8.count).max() ?? 0
      let rows = group.entries.map { entry in
        "  \(entry.name)\(String(repeating: " ", count: width - entry.name.utf8.count))  \(entry.value.text)\n"
      }
      return "\(group.name)\n" + rows.joined()
    }.joined(separator: "\n")
  }

  /// One object with an object for each group; numbers carry their unit in their name: `timeoutSeconds`.
  var json: [UInt8] {
    var json = JSONText()
    json.beginObject()
    for group in groups {
      json.key(group.name)
      json.beginObject()
      for entry in group.entries { Self.write(entry.name, entry.value, to: &json) }
      json.endObject()
    }
    json.endObject()
    json.endLine()
    return json.bytes
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

extension FactSheet.Value {
  fileprivate var text: String {
    switch self {
    case .text(let text): text
    case .none(let text): text
    case .number(let number, unit: "bytes"): HumanText.bytes(Int64(number))
    case .number(let number, unit: ""): HumanText.count(number)
    case .number(let number, let unit): "\(HumanText.count(number)) \(unit)"
    }
  }
}

extension String {
  fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
