/// `$XDG_CONFIG_HOME/netspool/config`: lines `option = value` with the options' own names, read before every `fetch`, `get`
/// and `post`. A command passes over what only the others know; what stands on the command line comes later and so wins.
enum ConfigFile {
  /// Nil when nothing says where it would be.
  static func path(_ environment: Environment) -> String? {
    environment.folder("XDG_CONFIG_HOME", ".config").map { "\($0)/netspool/config" }
  }

  /// The command line with the file's words behind the command. Throws `IOFailure`, and a `Mistake` for a wrong line.
  static func completed(_ words: [String], _ environment: Environment) throws -> [String] {
    joined(words, try lines(for: words, environment)[...])
  }

  /// The command line with the words of a file in place of each `--config FILE`; `-` is standard input.
  static func included(_ words: [String]) throws -> [String] {
    guard let command = words.first, OptionTable.commands.contains(command) else { return words }
    return try [command]
      + CommandWord.all(words).flatMap { word in
        guard word.option?.name == "config" else { return word.words }
        guard let path = word.value else { throw Mistake("\(word.words[0]) names no file") }
        let bytes = try Descriptor.reading(path).readAll(atMost: UserFile.bytesMax)
        return try lines(of: String(decoding: bytes, as: UTF8.self), at: path, for: command).map(\.word)
      }
  }

  /// The line that a command line cannot have, as `path:number`; nil when the command line itself is wrong.
  static func culprit(_ words: [String], _ environment: Environment, isWell: ([String]) -> Bool) -> String? {
    guard isWell(words), let lines = try? lines(for: words, environment) else { return nil }
    return lines.indices.first { !isWell(joined(words, lines[...$0])) }.map { lines[$0].place }
  }

  private static func joined(_ words: [String], _ lines: ArraySlice<Line>) -> [String] {
    words.prefix(1) + lines.map(\.word) + words.dropFirst()
  }

  private static func lines(for words: [String], _ environment: Environment) throws -> [Line] {
    guard let command = words.first, OptionTable.commands.contains(command), !words.contains("--no-config"),
      let path = path(environment), let text = try UserFile.read(path)
    else { return [] }
    let lines = try lines(of: text, at: path, for: command)
    // Of these the first counts.
    let leads = CommandWord.all(words).contains { $0.option?.name == "connect-to" }
    return leads ? lines.filter { !$0.word.hasPrefix("--connect-to=") } : lines
  }

  struct Line: Equatable {
    /// `path:number`
    let place: String
    /// `--option=value`
    let word: String
  }

  static func lines(of text: String, at path: String, for command: String) throws(Mistake) -> [Line] {
    var lines: [Line] = []
    // A carriage return and a line feed are one Character.
    let ends = text.drop { $0 == "\u{FEFF}" }.split(omittingEmptySubsequences: false) {
      $0 == "\n" || $0 == "\r\n"
    }
    for (number, line) in ends.enumerated() {
      let line = line.trimmingBlanks
      if line.isEmpty || line.hasPrefix("#") { continue }
      let place = "\(path):\(number + 1)"
      guard let (name, value) = split(line) else {
        throw Mistake("\(place): quotes around a value end with it, and one inside of them is \\\"")
      }
      if name.utf8.count == 1 {
        lines.append(Line(place: place, word: "-\(name)\(value ?? "")"))
        continue
      }
      guard OptionTable.find(name, before: command) != nil else {
        throw Mistake("\(place): " + unknown(name))
      }
      guard let option = OptionTable.find(name, of: command) else { continue }
      if option.value != nil {
        guard let value else { throw Mistake("\(place): '\(name)' needs a value: \(name) = ...") }
        lines.append(Line(place: place, word: "--\(name)=\(value)"))
      } else if let name = try isOn(value, name, place) ? name : opposite(of: name, option) {
        lines.append(Line(place: place, word: "--\(name)"))
      }
    }
    return lines
  }

  /// `--` before a name, and quotes around a value, may stand there. Nil for quotes that do not end with the value.
  private static func split(_ line: String) -> (name: String, value: String?)? {
    let end = line.firstIndex { $0 == "=" || $0 == " " || $0 == "\t" || $0 == ":" }
    let name = String(line[..<(end ?? line.endIndex)].drop { $0 == "-" })
    guard let end else { return (name, nil) }
    var value = line[end...].trimmingBlanks
    if value.hasPrefix("=") || value.hasPrefix(":") { value = value.dropFirst().trimmingBlanks }
    guard value.hasPrefix("\"") else { return (name, value) }
    var rest = value.dropFirst()
    let (text, isClosed) = rest.popQuoted(["v": "\u{B}"])
    return isClosed && rest.isEmpty ? (name, text) : nil
  }

  private static func unknown(_ name: String) -> String {
    if let reason = OptionTable.refusal(name, of: "") { return "'\(name)' is not here: \(reason)" }
    let known = OptionTable.commands.flatMap { OptionTable.names(of: $0) }.filter { $0.utf8.count > 1 }
    let meant = Suggestion.nearest(to: name, in: known.sorted()).map { "; did you mean '\($0)'?" } ?? ""
    return "there is no option '\(name)'\(meant)"
  }

  /// The flag that says the opposite; nil for one that is off unless it is given.
  private static func opposite(of name: String, _ option: OptionSpec) -> String? {
    guard option.has("inverts") else { return nil }
    return option.names.contains(name) ? "no-\(name)" : String(name.dropFirst("no-".count))
  }

  private static func isOn(_ value: String?, _ name: String, _ place: String) throws(Mistake) -> Bool {
    switch value {
    case nil, "true", "yes", "on", "1": return true
    case "false", "no", "off", "0": return false
    default: throw Mistake("\(place): '\(name)' is true or false")
    }
  }
}
