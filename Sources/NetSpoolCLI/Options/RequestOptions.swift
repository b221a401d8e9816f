import ArgumentParser
import NetSpool

/// What every command that sends requests understands.
struct RequestOptions: ParsableArguments {
  @Option("header") var header: [HeaderWord] = []
  @Option("user-agent") var userAgent: String?
  @Option("referer") var referer: String?
  @Option("max-time") var timeout: TimeLimit?
  @Option("retry") var retry: Int?
  @Option("retry-delay") var retryDelay: TimeSpan?
  @Option("retry-max-time") var retryMaxTime: TimeLimit?
  @Flag("retry-all-errors") var retryAllErrors = false
  @Flag("retry-connrefused") var retryConnrefused = false
  @Option("max-filesize") var maxFilesize: ByteSize?
  @Option("limit-rate") var limitRate: ByteSize?
  @Flag("compressed") var compressed = true

  /// The limit that was asked for, or the one that holds otherwise; nil is none.
  var limit: TimeSpan? { timeout.map(\.span) ?? TimeSpan(seconds: Double(Self.timeoutSeconds)) }
  var retries: Int { retry ?? Self.retriesByDefault }

  static let timeoutSeconds = 300
  static let retriesByDefault = 2
  /// The most retries that make sense: the pauses double each time.
  static let retryMax = 100

  func validate() throws {
    try refuse(!(0...Self.retryMax).contains(retries), "--retry is a number from 0 to \(Self.retryMax).")
    try HeaderWord.check(header)
    try refuse(
      referer?.hasSuffix(";auto") == true,
      "--referer ';auto' is not known: redirects get the Referer that is given, or none.")
    for (name, text) in [("--user-agent", userAgent), ("--referer", referer)] {
      let isPlain = !HeaderField.hasControl(text ?? "")
      try refuse(!isPlain, "\(name) must not contain control characters.")
    }
  }

  /// The fields to send, and the names of those that must not be sent.
  struct Fields {
    var sent = NetworkRequest.Headers()
    var omitted: [String] = []

    mutating func take(_ field: HeaderField) {
      if let value = field.value { sent.add(field.name, value) } else { omitted.append(field.name) }
    }

    /// True if anything was said of a field.
    func names(_ name: String) -> Bool { sent.contains(name) || omits(name) }
    func omits(_ name: String) -> Bool { omitted.contains { $0.lowercased() == name.lowercased() } }
  }

  /// Throws for a file of fields that cannot be read. Standard input is read once: call this once.
  func fields() throws(IOFailure) -> Fields {
    var fields = Fields()
    for word in header { for field in try word.fields() { fields.take(field) } }
    // What --header says of a field wins, as with curl: a field is sent once.
    if let userAgent, !fields.names("User-Agent") {
      fields.take(HeaderField(name: "User-Agent", value: userAgent.isEmpty ? nil : userAgent))
    }
    if let referer, !referer.isEmpty, !fields.names("Referer") { fields.sent.set("Referer", referer) }
    if !compressed, !fields.sent.contains("Accept-Encoding") {
      fields.sent.set("Accept-Encoding", "identity")
    }
    if !fields.names("User-Agent") { fields.sent.set("User-Agent", "netspool/\(NetSpoolTool.version)") }
    return fields
  }
}

/// `--timeout`: how long, or for ever.
struct TimeLimit: Sendable, ExpressibleByArgument {
  /// Nil is for ever.
  let span: TimeSpan?

  init?(argument: String) {
    span = TimeSpan(argument)
    if span == nil, argument != "0" { return nil }
  }
}

struct HeaderField: Equatable, Sendable, ExpressibleByArgument {
  let name: String
  /// Nil: the field must not be sent.
  let value: String?

  init(name: String, value: String?) { (self.name, self.value) = (name, value) }

  /// Nil unless the name is a token (RFC 9110 section 5.6.2) and the value has no line break or NUL.
  init?(argument: String) {
    let mark = argument.utf8.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }
    guard let mark else { return nil }
    name = String(argument[..<mark])
    let text = argument[argument.utf8.index(after: mark)...].trimmingBlanks
    let isEmpty = argument.utf8[mark] == UInt8(ascii: ";")
    if isEmpty && !text.isEmpty { return nil }
    value = text.isEmpty && !isEmpty ? nil : text
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else { return nil }
    guard !text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
  }

  static func hasControl(_ text: String) -> Bool { text.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
  static func isTokenByte(_ byte: UInt8) -> Bool { byte.isAlphanumeric(or: "!#$%&'*+-.^_`|~") }
}

/// A `--header`: a field, or a file with one in each line.
enum HeaderWord: Equatable, Sendable, ExpressibleByArgument {
  case field(HeaderField)
  case file(String)
  /// What is no field, with a sentence that says so. The parser's own would show the value, which may be a secret.
  case broken(String)

  init(argument: String) {
    if argument.hasPrefix("@") {
      let path = String(argument.dropFirst())
      self = path.isEmpty ? .broken("--header @ names no file.") : .file(path)
    } else if let field = HeaderField(argument: argument) {
      self = .field(field)
    } else {
      self = .broken(Self.problem(argument))
    }
  }

  static func check(_ words: [HeaderWord]) throws {
    for case .broken(let sentence) in words { throw ValidationError(sentence) }
  }

  /// Shows a field's name only: a word that stands alone may be the value.
  private static func problem(_ text: String) -> String {
    let name = text.prefix { !$0.isWhitespace && $0 != ":" && $0 != ";" }
    let isName =
      name.endIndex < text.endIndex && !name.isEmpty && name.utf8.allSatisfy(HeaderField.isTokenByte)
    let shown = isName ? "'\(name) •••'" : "'•••'"
    if text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
      return "--header \(shown) has a control character in it."
    }
    if text.contains(":") { return "--header \(shown) has a name that is none: it is 'Name: value'." }
    return "--header \(shown) has no colon behind the name: it is 'Name: value'."
  }

  /// Lines of a file that are no fields are left out, as curl does it.
  func fields() throws(IOFailure) -> [HeaderField] {
    switch self {
    case .field(let field): return [field]
    case .broken: return []
    case .file(let path):
      let bytes = try Descriptor.reading(path).readAll(atMost: UserFile.bytesMax)
      let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      return lines.compactMap { HeaderField(argument: String($0)) }
    }
  }
}

extension UInt8 {
  /// True for ASCII's digits and letters, and some others.
  func isAlphanumeric(or others: String) -> Bool {
    self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 26 || others.utf8.contains(self)
  }
}

extension Substring {
  /// Takes the rest of a word in double quotes, with curl's escapes; `isClosed` is false for one that never ends.
  mutating func popQuoted(_ more: [Character: Character] = [:]) -> (text: String, isClosed: Bool) {
    var text = ""
    while let letter = popFirst() {
      if letter == "\"" { return (text, true) }
      guard letter == "\\", let escaped = popFirst() else {
        text.append(letter)
        continue
      }
      text.append(["n": "\n", "r": "\r", "t": "\t"][escaped] ?? more[escaped] ?? escaped)
    }
    return (text, false)
  }

  var trimmingBlanks: String {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }
}
