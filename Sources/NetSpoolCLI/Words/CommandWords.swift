/// The words of a command line as curl's users write them, brought into the form that the parser reads.
///
/// The parser knows neither `-sSLo file` nor `-XPOST`, takes a value that begins with a dash for an option, and does not
/// tell in which order options of different names came. So every option gets its long name and its value behind `=`, and
/// values whose order matters are numbered (`PlacedText`): URLs, too, as the n-th file is that of the n-th URL.
enum CommandWords {
  /// The commands that take curl's options.
  static let commands: Set<String> = ["fetch", "get", "post"]

  /// Which options have values; the names of all others stand for themselves.
  static func canonical(_ words: [String]) -> [String] {
    guard let command = words.first, commands.contains(command) else { return words }
    var rest = words.dropFirst()
    var output = [command]
    while let word = rest.popFirst() {
      let place = words.count - rest.count
      if word == "--" {
        return output + (command == "fetch" ? [word] : []) + plain(Array(rest), command, from: place + 1)
      }
      if word.hasPrefix("--") {
        output += isFlag(word, of: command) ? [word] : long(word, &rest, place, command)
      } else if word.hasPrefix("-"), word.utf8.count > 1 {
        output += short(word.dropFirst(), &rest, place, command)
      } else {
        output += plain([word], command, from: place)
      }
    }
    return output
  }

  /// The words as they are written, their values changed.
  /// - Parameter change: gets the long name of a value's option, nil for a word that is none's value.
  static func mapped(_ words: [String], _ change: (_ option: String?, _ value: String) -> String) -> [String]
  {
    guard let command = words.first else { return [] }
    var rest = words.dropFirst()
    var output = [command]
    while let word = rest.popFirst() {
      if word == "--" { return output + [word] + rest.map { change(nil, $0) } }
      guard word.hasPrefix("-"), word.utf8.count > 1 else {
        output.append(change(nil, word))
        continue
      }
      guard let (name, value) = valueOption(word, of: command) else {
        output.append(word)
        continue
      }
      if let value {
        output.append(word[..<value.startIndex] + change(name, String(value)))
      } else {
        output += [word] + (rest.popFirst().map { [change(name, $0)] } ?? [])
      }
    }
    return output
  }

  /// The letters of short options, in the order of the command line.
  static func letters(_ words: [String]) -> [Character] {
    guard let command = words.first, commands.contains(command) else { return [] }
    var rest = words.dropFirst()
    var letters: [Character] = []
    while let word = rest.popFirst(), word != "--" {
      if !word.hasPrefix("--"), word.hasPrefix("-") {
        let own = word.dropFirst()
        letters += own.firstIndex { letterNames[$0] != nil }.map { own[...$0] } ?? own
      }
      if let (_, value) = valueOption(word, of: command), value == nil { _ = rest.popFirst() }
    }
    return letters
  }

  /// The option of a word that has a value, and the value if it stands in the same word; nil for flags.
  private static func valueOption(_ word: String, of command: String) -> (name: String, value: Substring?)? {
    if word.hasPrefix("--") {
      let equals = word.firstIndex(of: "=")
      let name = String(word[..<(equals ?? word.endIndex)].dropFirst(2))
      guard valued.contains(name), !isFlag(name, of: command) else { return nil }
      return (name, equals.map { word[word.index(after: $0)...] })
    }
    let letters = word.dropFirst()
    guard let letter = letters.firstIndex(where: { letterNames[$0] != nil }),
      let name = letterNames[word[letter]]
    else { return nil }
    let value = word[word.index(after: letter)...]
    return (name, value.isEmpty ? nil : value)
  }

  /// Words that are no options: sources of `fetch`, URLs of the others.
  private static func plain(_ words: [String], _ command: String, from place: Int) -> [String] {
    if command == "fetch" { return words }
    return words.enumerated().map { "--url=\(PlacedText.mark($1, place + $0))" }
  }

  /// Names that are an option with a value for other commands.
  static func isFlag(_ word: String, of command: String) -> Bool {
    command == "fetch" && (word == "--json" || word == "json")
  }

  /// `--data x`, `--data=x`, `--silent`.
  private static func long(
    _ word: String, _ rest: inout ArraySlice<String>, _ place: Int, _ command: String
  ) -> [String] {
    if word == "--remote-name", command != "fetch" { return ["--remote-name-at=\(place)"] }
    let equals = word.firstIndex(of: "=")
    let name = String(word[..<(equals ?? word.endIndex)].dropFirst(2))
    guard valued.contains(name) else { return [word] }
    if let equals { return option(name, String(word[word.index(after: equals)...]), place, command) }
    guard let value = rest.popFirst() else { return [word] }
    return option(name, value, place, command)
  }

  /// `-sSLo file`, `-XPOST`: flags, and at their end perhaps an option with its value in the same word or the next.
  private static func short(
    _ letters: Substring, _ rest: inout ArraySlice<String>, _ place: Int, _ command: String
  ) -> [String] {
    var letters = letters
    var output: [String] = []
    while let letter = letters.popFirst() {
      guard let name = letterNames[letter] else {
        output += letter == "O" && command != "fetch" ? ["--remote-name-at=\(place)"] : ["-\(letter)"]
        continue
      }
      if letters.isEmpty, rest.isEmpty { return output + ["--\(name)"] }
      let value = letters.isEmpty ? rest.removeFirst() : String(letters)
      return output + option(name, value, place, command)
    }
    return output
  }

  private static func option(
    _ name: String, _ value: String, _ place: Int, _ command: String
  ) -> [String] {
    if placed.contains(name) || command != "fetch" && paired.contains(name) {
      return ["--\(name)=\(PlacedText.mark(value, place))"]
    }
    // The parser takes an option that ends with `=` for one without a value.
    return value.isEmpty ? ["--\(name)", ""] : ["--\(name)=\(value)"]
  }

  /// The options whose order among each other says what is sent.
  private static let placed: Set<String> = [
    "data", "data-ascii", "data-raw", "data-binary", "data-urlencode", "form", "form-string",
  ]

  /// The options whose order says which URL they belong to.
  private static let paired: Set<String> = ["output", "upload-file", "url"]

  /// The letters whose options have values.
  private static let letterNames: [Character: String] = [
    "A": "user-agent", "b": "cookie", "c": "cookie-jar", "C": "continue-at", "d": "data", "D": "dump-header",
    "e": "referer", "E": "cert", "F": "form", "H": "header", "K": "config", "m": "max-time", "o": "output",
    "r": "range",
    "T": "upload-file", "u": "user", "U": "proxy-user", "w": "write-out", "x": "proxy", "X": "request",
    "z": "time-cond",
  ]

  /// The long names of options with values. `CommandWordsTests` holds them against the commands' help.
  static let valued: Set<String> = placed.union(letterNames.values).union([
    "aws-sigv4", "cacert", "cache", "cache-size", "capath", "connect-timeout", "dedupe", "expires", "failed",
    "etag-compare", "etag-save", "file", "fit", "format", "frozen-store", "har", "idempotency-key",
    "interface", "jobs", "json", "key", "lane", "limit-rate",
    "max-errors", "max-filesize", "max-redirs", "max-time", "method", "names", "netrc-file", "noproxy",
    "oauth2-bearer",
    "output-dir", "pass", "password-file", "per-host-rate", "per-origin", "progress", "rate", "resolve",
    "results", "retry", "retry-delay", "retry-max-time", "rules", "shard", "shard-size", "stderr", "tag",
    "thumbnail",
    "timeout", "tree", "unix-socket", "upload-file", "url", "url-query",
  ])
}

/// A value that remembers where on the command line it stood.
struct PlacedText: Equatable, Sendable {
  let text: String
  /// Words before it; 0 when nobody said.
  let place: Int

  /// No argument holds a NUL, so it divides number and value.
  private static let divider: Character = "\0"

  static func mark(_ text: String, _ place: Int) -> String { "\(place)\(divider)\(text)" }

  init(_ argument: String) {
    guard let divider = argument.firstIndex(of: Self.divider), let place = Int(argument[..<divider]) else {
      (text, place) = (argument, 0)
      return
    }
    (text, self.place) = (String(argument[argument.index(after: divider)...]), place)
  }
}
