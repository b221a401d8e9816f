import NetSpool
import NetSpoolTesting

/// What a line of a list says besides its URL and name.
struct LineOptions: Equatable, Sendable {
  /// The body must have this digest, or there is no file.
  var sha256: String?
  var priority: NetworkRequest.Priority?
  var headers: [HeaderField] = []
  /// Where the same body is to be had: asked in this order when the URL before has failed.
  var mirrors: [String] = []
  /// What else the line says of it, such as a caption or a label: it goes into results and tars.
  var others: [Other] = []

  /// A column of a table, or a key of a JSON object, that is nothing to us.
  struct Other: Equatable, Sendable {
    let name: String
    let json: [UInt8]
  }

  var words: [String] {
    demands + (priority.map { ["priority=\($0)"] } ?? []) + mirrors.map { "mirror=\($0)" }
  }

  /// What tells the line from another with the same URL and name: it asks for something else.
  var demands: [String] {
    (sha256.map { ["sha256=\($0)"] } ?? []) + headers.map { "header=\($0.name): \($0.value ?? "")" }
  }
}

/// How lines are written: `URL`, tab, `option=value`, ...; or a JSON object; or the rows of a table (`TableRow`).
enum LineForm {
  private static let names = ["out", "sha256", "priority", "header", "mirror"]
  /// What JSON and CSV have besides.
  private static let others = ["url": "url", "output": "out", "name": "out", "mirrors": "mirrors"]

  private static func name(of key: String) -> String? { names.contains(key) ? key : others[key] }

  /// The key that was meant by an unknown one: a digest under a mistyped name would go unchecked. Short ones are not guessed
  /// at, as in JSON and CSV most keys are the user's own.
  private static func meant(_ key: String) -> String? {
    let (key, known) = (key.lowercased(), (names + others.keys).sorted())
    return known.contains(key) ? key : Suggestion.nearest(to: key, in: known.filter { $0.utf8.count > 4 })
  }

  /// More are looked at again in each line.
  private static let strangersMax = 1_000
  /// A longer key is no slip of the pen.
  private static let keyBytesMax = 32

  /// What is wrong with the first line of a table; nil when nothing is.
  static func problem(_ head: TableRow.Head) -> String? {
    for column in head.names.map({ $0.lowercased() }) where name(of: column) == nil || column == "mirrors" {
      guard let meant = column == "mirrors" ? "mirror" : meant(column) else { continue }
      return "unknown column '\(column)': did you mean '\(meant)'? Nothing of this list is fetched"
    }
    return nil
  }

  /// - Parameter strangers: keys of JSON lines that are the user's own; a list has the same in each line.
  static func item(_ text: String, strangers: inout Set<String>) throws(Mistake) -> ListItem {
    text.hasPrefix("{") ? try json(text, &strangers) : try plain(text)
  }

  /// The first word behind the URL is a name unless it is an option or another URL.
  private static func plain(_ text: String) throws(Mistake) -> ListItem {
    // Nearly every line is a URL alone, and it is letters that cost, not a span's bytes.
    let bytes = text.utf8.span
    guard bytes.indices.contains(where: { bytes[$0] == 0x09 }) else { return ListItem(url: text, line: 0) }
    let parts = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    var item = ListItem(url: parts[0], line: 0)
    for (number, part) in parts.dropFirst().enumerated() {
      if let (name, value) = try option(part) {
        try set(name, value, in: &item)
      } else if URLText.looksLikeURL(part) {
        try set("mirror", part, in: &item)
      } else if number == 0 {
        item.name = part
      } else if !part.isEmpty {
        throw Mistake("'\(part)' is none of out=, sha256=, priority=, header= and mirror=")
      }
    }
    return item
  }

  /// `sha256=...`; nil for a name, and for a URL.
  private static func option(_ word: String) throws(Mistake) -> (name: String, value: String)? {
    guard let equals = word.firstIndex(of: "="), !word[..<equals].contains("://") else { return nil }
    let name = String(word[..<equals])
    guard !names.contains(name) else { return (name, String(word[word.index(after: equals)...])) }
    let meant = Suggestion.nearest(to: name.lowercased(), in: names).map { "did you mean '\($0)'?" }
    throw Mistake("unknown option '\(name)': \(meant ?? "a name with '=' is written out=NAME")")
  }

  private static func json(_ text: String, _ strangers: inout Set<String>) throws(Mistake) -> ListItem {
    var item = ListItem(url: "", line: 0)
    var mistake: Mistake?
    var scanner = JSONScanner(Array(text.utf8)[...])
    let isWhole: Void? = try? scanner.wholeObject { key, value in
      if name(of: key) != nil { return try take(key, &value, in: &item, &mistake) }
      if key.utf8.count <= keyBytesMax, !strangers.contains(key) {
        if let meant = meant(key) {
          mistake = Mistake("unknown key '\(key)': did you mean '\(meant)'?")
        } else if strangers.count < strangersMax {
          strangers.insert(key)
        }
      }
      item.options.others.append(LineOptions.Other(name: key, json: try value.rawValue()))
    }
    guard isWhole != nil else { throw Mistake("the line begins as a JSON object but is none") }
    if let mistake { throw mistake }
    return item
  }

  /// `null` is as good as no key.
  private static func take(
    _ key: String, _ value: inout JSONScanner, in item: inout ListItem, _ mistake: inout Mistake?
  ) throws {
    guard let name = name(of: key), !value.begins(with: "n") else { return try value.skipValue() }
    guard name == "mirrors" else { return try takeText(name, &value, in: &item, &mistake) }
    guard value.begins(with: "[") else {
      mistake = Mistake("'mirrors' is an array of URLs")
      return try value.skipValue()
    }
    try value.array { try takeText("mirror", &$0, in: &item, &mistake) }
  }

  private static func takeText(
    _ name: String, _ value: inout JSONScanner, in item: inout ListItem, _ mistake: inout Mistake?
  ) throws {
    guard value.begins(with: "\"") else {
      mistake = Mistake("'\(name)' is no text in quotes")
      return try value.skipValue()
    }
    let text = try value.string()
    do throws(Mistake) { try set(name, text, in: &item) } catch { mistake = error }
  }

  static func item(_ row: ArraySlice<UInt8>, of head: TableRow.Head) throws(Mistake) -> ListItem {
    var item = ListItem(url: "", line: 0)
    for (column, field) in zip(head.names, TableRow.fields(row, head.separator)) {
      if let name = name(of: column.lowercased()) {
        if !field.isEmpty { try set(name, field, in: &item) }
      } else if !item.options.others.contains(where: { $0.name == column }) {
        item.options.others.append(LineOptions.Other(name: column, json: JSONText.quoted(field)))
      }
    }
    return item
  }

  /// A row as a JSON object: a line that needs no columns in another one.
  static func object(_ row: ArraySlice<UInt8>, _ head: TableRow.Head) -> [UInt8] {
    JSONText.object { json in
      for (number, field) in TableRow.fields(row, head.separator).enumerated() where !field.isEmpty {
        json.field(number < head.names.count ? head.names[number] : "column \(number + 1)", field)
      }
    }
  }

  /// The line that is read back as this item. Plain where that says the same, else a JSON object: a tab inside of a field would
  /// begin another one.
  static func line(_ url: String, _ output: String?, _ options: LineOptions) -> [UInt8] {
    let name = output.map { $0.contains("=") || URLText.looksLikeURL($0) ? "out=\($0)" : $0 }
    let words = [url] + (name.map { [$0] } ?? []) + options.words
    let isPlain =
      options.others.isEmpty && words.last?.last != " "
      && words.reduce(0, { $0 + $1.utf8.count + 1 }) <= ListReader.lineBytesMax
      && words.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 } }
    if isPlain { return Array(words.joined(separator: "\t").utf8) }
    return JSONText.object { json in
      json.field("url", url)
      json.field("out", output)
      json.field("sha256", options.sha256)
      json.field("priority", options.priority.map { "\($0)" })
      for field in options.headers { json.field("header", "\(field.name): \(field.value ?? "")") }
      for mirror in options.mirrors { json.field("mirror", mirror) }
      for other in options.others { json.field(other.name, raw: other.json) }
    }
  }

  private static func set(_ name: String, _ value: String, in item: inout ListItem) throws(Mistake) {
    switch name {
    case "url": item.url = value
    case "out": item.name = value
    case "sha256":
      guard value.utf8.count == 64, value.allSatisfy(\.isHexDigit) else {
        throw Mistake("sha256= has 64 hexadecimal digits")
      }
      item.options.sha256 = value.lowercased()
    case "mirror":
      if let problem = URLText.problem(value) { throw Mistake("mirror=: \(problem.sentence)") }
      item.options.mirrors.append(value)
    case "priority":
      guard let priority = NetworkRequest.Priority.allCases.first(where: { "\($0)" == value }) else {
        throw Mistake("priority= is low, normal, high or urgent")
      }
      item.options.priority = priority
    default:
      guard let field = HeaderField(argument: value), field.value != nil else {
        throw Mistake("header= is 'Name: value'")
      }
      item.options.headers.append(field)
    }
  }
}
