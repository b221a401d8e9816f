/// What a line on the terminal or in a log may show of a command line: everything but its secrets.
enum Secrets {
  static let mask = "•••"

  /// The words of a command, those in a `key=value`, a field, a URL or a user's password masked by the library's own rule.
  static func masked(_ words: [String]) -> [String] { CommandWords.mapped(words, masked) }

  /// - Parameter option: nil for a word that is none's value.
  private static func masked(_ option: OptionSpec?, _ value: String) -> String {
    switch option.map({ $0.marks.first { $0.hasPrefix("secret-") } ?? "" }) {
    case nil, "secret-url": URLText.looksLikeURL(value) ? URLText.masked(value) : value
    case "secret-proxy": proxy(value)
    case "secret-field": field(value)
    case "secret-colon": value.firstIndex(of: ":").map { "\(value[..<$0]):\(mask)" } ?? value
    case "secret-cookie": value.contains("=") ? mask : value
    case "secret-all": mask
    default: value
    }
  }

  private static func proxy(_ value: String) -> String {
    if value.contains("://") { return URLText.masked(value) }
    return String(URLText.masked("http://\(value)").dropFirst("http://".count))
  }

  /// A field without a value, or a file of fields, stays as it is.
  private static func field(_ value: String) -> String {
    guard !value.hasPrefix("@"), let field = HeaderField(argument: value), let text = field.value,
      !text.isEmpty
    else { return value }
    let shown = HAREntry.masked(field.name, text)
    return shown == text ? value : "\(field.name): \(shown)"
  }
}
