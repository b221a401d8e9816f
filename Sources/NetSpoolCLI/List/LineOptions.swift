import NetSpool

/// What a line of a list says besides its URL and name.
struct LineOptions: Equatable, Sendable {
  /// The body must have this digest, or there is no file.
  var sha256: String?
  var priority: PriorityName?
  var headers: [HeaderField] = []
  /// Where the same body is to be had: asked in this order when the URL before has failed.
  var mirrors: [String] = []

  /// As a list has them.
  var words: [String] {
    (sha256.map { ["sha256=\($0)"] } ?? []) + (priority.map { ["priority=\($0.rawValue)"] } ?? [])
      + headers.map { "header=\($0.name): \($0.value ?? "")" } + mirrors.map { "mirror=\($0)" }
  }
}

/// How lines are written: `URL`, tab, `option=value`, ...; or a JSON object; or the columns of a CSV file.
enum LineForm {
  /// What a line says that cannot be meant.
  struct Mistake: Error {
    let sentence: String
  }

  private static let names = ["out", "sha256", "priority", "header", "mirror"]

  /// The columns, when the first line of a source is the head of a CSV file: names, one of them `url`.
  static func columns(_ line: String) -> [String]? {
    let names = fields(line).map { $0.lowercased() }
    return names.contains("url") && !line.contains("://") ? names : nil
  }

  /// - Parameter columns: of a CSV file.
  static func item(_ text: String, columns: [String]?) throws(Mistake) -> ListItem {
    if let columns { return try csv(text, columns) }
    return text.hasPrefix("{") ? try json(text) : try plain(text)
  }

  /// The first word behind the URL is a name unless it is an option or another URL.
  private static func plain(_ text: String) throws(Mistake) -> ListItem {
    let parts = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    var item = ListItem(url: parts[0], line: 0)
    for (number, part) in parts.dropFirst().enumerated() {
      let equals = part.firstIndex(of: "=")
      let name = equals.map { String(part[..<$0]) }
      if let name, let equals, names.contains(name) {
        try set(name, String(part[part.index(after: equals)...]), in: &item)
      } else if URLText.looksLikeURL(part) {
        try set("mirror", part, in: &item)
      } else if number == 0 {
        item.name = part
      } else if !part.isEmpty {
        throw Mistake(sentence: "'\(part)' is none of out=, sha256=, priority=, header= and mirror=")
      }
    }
    return item
  }

  private static func json(_ text: String) throws(Mistake) -> ListItem {
    var item = ListItem(url: "", line: 0)
    var mistake: Mistake?
    var scanner = JSONScanner(Array(text.utf8)[...])
    let isWhole: Void? = try? scanner.wholeObject { key, value in
      let name = key == "output" || key == "name" ? "out" : key
      if name == "mirrors" {
        return try value.array { try takeMirror($0.string(), in: &item, &mistake) }
      }
      guard name == "url" || names.contains(name) else { return try value.skipValue() }
      let text = try value.string()
      if name == "url" { return item.url = text }
      do throws(Mistake) { try set(name, text, in: &item) } catch { mistake = error }
    }
    if let mistake { throw mistake }
    guard isWhole != nil else { throw Mistake(sentence: "the line begins as a JSON object but is none") }
    return item
  }

  private static func takeMirror(_ url: String, in item: inout ListItem, _ mistake: inout Mistake?) {
    do throws(Mistake) { try set("mirror", url, in: &item) } catch { mistake = error }
  }

  private static func csv(_ text: String, _ columns: [String]) throws(Mistake) -> ListItem {
    var item = ListItem(url: "", line: 0)
    for (column, field) in zip(columns, fields(text)) where !field.isEmpty {
      let name = column == "output" || column == "name" ? "out" : column
      if name == "url" { item.url = field } else if names.contains(name) { try set(name, field, in: &item) }
    }
    return item
  }

  /// A row as a JSON object: a line that needs no columns in another one.
  static func object(_ row: String, _ columns: [String]) -> [UInt8] {
    var json = JSONText()
    json.beginObject()
    for (number, field) in fields(row).enumerated() where !field.isEmpty {
      json.field(number < columns.count ? columns[number] : "column \(number + 1)", field)
    }
    json.endObject()
    return json.bytes
  }

  /// The line that is read back as this item. Plain where that says the same, else a JSON object: a tab inside of a field would
  /// begin another one.
  static func line(_ url: String, _ output: String?, _ options: LineOptions) -> [UInt8] {
    let words = [url] + (output.map { [$0] } ?? []) + options.words
    let isOption = output.map { name in names.contains { name.hasPrefix("\($0)=") } } ?? false
    let isMirror = output.map(URLText.looksLikeURL) ?? false
    let isPlain = words.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 } } && words.last?.last != " "
    if isPlain && !isOption && !isMirror { return Array(words.joined(separator: "\t").utf8) }
    var json = JSONText()
    json.beginObject()
    json.field("url", url)
    json.field("out", output)
    json.field("sha256", options.sha256)
    json.field("priority", options.priority?.rawValue)
    for field in options.headers { json.field("header", "\(field.name): \(field.value ?? "")") }
    for mirror in options.mirrors { json.field("mirror", mirror) }
    json.endObject()
    return json.bytes
  }

  private static func set(_ name: String, _ value: String, in item: inout ListItem) throws(Mistake) {
    switch name {
    case "out": item.name = value
    case "sha256":
      guard value.utf8.count == 64, value.allSatisfy(\.isHexDigit) else {
        throw Mistake(sentence: "sha256= has 64 hexadecimal digits")
      }
      item.options.sha256 = value.lowercased()
    case "mirror":
      if let problem = URLText.problem(value) { throw Mistake(sentence: "mirror=: \(problem.sentence)") }
      item.options.mirrors.append(value)
    case "priority":
      guard let priority = PriorityName(rawValue: value) else {
        throw Mistake(sentence: "priority= is low, normal, high or urgent")
      }
      item.options.priority = priority
    default:
      guard let field = HeaderField(argument: value), field.value != nil else {
        throw Mistake(sentence: "header= is 'Name: value'")
      }
      item.options.headers.append(field)
    }
  }

  /// The fields of a line of CSV (RFC 4180); quoted ones may hold commas and, doubled, quotes.
  private static func fields(_ line: String) -> [String] {
    var (fields, field, isQuoted) = ([String](), "", false)
    var rest = line[...]
    while let letter = rest.popFirst() {
      switch letter {
      case "\"" where isQuoted && rest.first == "\"":
        rest.removeFirst()
        field.append(letter)
      case "\"": isQuoted.toggle()
      case "," where !isQuoted:
        fields.append(field)
        field = ""
      default: field.append(letter)
      }
    }
    return fields + [field]
  }
}
