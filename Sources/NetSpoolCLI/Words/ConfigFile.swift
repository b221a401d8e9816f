import ArgumentParser

/// `$XDG_CONFIG_HOME/netspool/config`: lines `option = value` with the options' own names, read before every `fetch`, `get`
/// and `post`. A command passes over what only the others know; what stands on the command line comes later and so wins.
enum ConfigFile {
  /// Nil when nothing says where it would be (XDG Base Directory Specification: a relative path counts as none).
  static func path(_ environment: Environment) -> String? {
    func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let base = absolute("XDG_CONFIG_HOME") ?? absolute("HOME").map { "\($0)/.config" }
    return base.map { "\($0)/netspool/config" }
  }

  /// The command line with the file's words behind the command. Throws a `Mistake` for a line that says nothing, and
  /// `IOFailure`.
  static func completed(_ words: [String], _ environment: Environment) throws -> [String] {
    joined(words, try lines(for: words, environment)[...])
  }

  /// The command line with the words of a file in place of each `--config FILE`; `-` is standard input.
  static func included(_ words: [String]) throws -> [String] {
    guard let command = words.first, CommandWords.commands.contains(command) else { return words }
    var (rest, output) = (words[...], [String]())
    while let word = rest.popFirst() {
      if word == "--" { return output + [word] + rest }
      let isOption = word.hasPrefix("-K") || word == "--config" || word.hasPrefix("--config=")
      guard isOption else {
        output.append(word)
        continue
      }
      let own = word.hasPrefix("-K") ? word.dropFirst(2) : word.dropFirst("--config=".count)
      guard let path = own.isEmpty ? rest.popFirst() : String(own) else {
        throw Mistake("\(word) names no file")
      }
      let bytes = try Descriptor.reading(path).readAll(atMost: UserFile.bytesMax)
      output += try lines(of: String(decoding: bytes, as: UTF8.self), at: path, for: command).map(\.word)
    }
    return output
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
    guard let command = words.first, CommandWords.commands.contains(command), !words.contains("--no-config"),
      let path = path(environment), let text = try UserFile.read(path)
    else { return [] }
    return try lines(of: text, at: path, for: command)
  }

  /// A line that says something.
  struct Line: Equatable {
    /// `path:number`
    let place: String
    /// `--option=value`
    let word: String
  }

  static func lines(of text: String, at path: String, for command: String) throws(Mistake) -> [Line] {
    let all = OptionNames.all
    let known = all.values.reduce(into: Set<String>()) { $0.formUnion($1) }
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
      guard known.contains(name) else {
        if let reason = ShortOptions.missing[name] {
          throw Mistake("\(place): '\(name)' is not here: \(reason)")
        }
        let meant = Suggestion.nearest(to: name, in: known.sorted()).map { "; did you mean '\($0)'?" } ?? ""
        throw Mistake("\(place): there is no option '\(name)'\(meant)")
      }
      guard let own = all[command], own.contains(name) else { continue }
      if CommandWords.valued.contains(name), !CommandWords.isFlag(name, of: command) {
        guard let value else {
          throw Mistake("\(place): '\(name)' needs a value: \(name) = ...")
        }
        lines.append(Line(place: place, word: "--\(name)=\(value)"))
      } else if let name = try isOn(value, name, place) ? name : opposite(of: name, in: own) {
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
    return quoted(value).map { (name, $0) }
  }

  /// A value in double quotes, with curl's escapes.
  private static func quoted(_ value: String) -> String? {
    var (rest, text) = (value.dropFirst(), "")
    while let letter = rest.popFirst() {
      switch letter {
      case "\"": return rest.isEmpty ? text : nil
      case "\\":
        guard let escaped = rest.popFirst() else { return nil }
        text.append(["n": "\n", "r": "\r", "t": "\t", "v": "\u{B}"][escaped] ?? escaped)
      default: text.append(letter)
      }
    }
    return nil
  }

  /// The flag that says the opposite; nil for one that is off unless it is given.
  private static func opposite(of name: String, in names: Set<String>) -> String? {
    let other = name.hasPrefix("no-") ? String(name.dropFirst(3)) : "no-\(name)"
    return names.contains(other) && !CommandWords.valued.contains(other) ? other : nil
  }

  private static func isOn(_ value: String?, _ name: String, _ place: String) throws(Mistake) -> Bool {
    switch value {
    case nil, "true", "yes", "on", "1": return true
    case "false", "no", "off", "0": return false
    default: throw Mistake("\(place): '\(name)' is true or false")
    }
  }
}

/// The names of the options of each command, from its help.
enum OptionNames {
  static var all: [String: Set<String>] {
    [
      "fetch": names(FetchCommand.helpMessage(includeHidden: true, columns: 400)),
      "get": names(GetCommand.helpMessage(includeHidden: true, columns: 400)),
      "post": names(PostCommand.helpMessage(includeHidden: true, columns: 400)),
    ]
  }

  /// `  -o, --output <file>   Write...`: the words that begin with two dashes, before the text.
  static func names(_ help: String) -> Set<String> {
    var names: Set<String> = []
    for line in help.split(separator: "\n") where line.hasPrefix("  -") {
      for word in line.split(whereSeparator: { " ,/".contains($0) }).prefix(while: { $0.hasPrefix("-") }) {
        if word.hasPrefix("--") { names.insert(String(word.dropFirst(2))) }
      }
    }
    return names
  }
}
