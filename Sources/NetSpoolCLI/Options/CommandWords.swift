/// The words of a command line as curl's users write them, brought into the form that the parser reads.
///
/// The parser knows neither `-sSLo file` nor `-XPOST`, takes a value that begins with a dash for an option, and does not
/// tell in which order options of different names came. So every option gets its long name and its value behind `=`, and
/// options among which the order matters become one: URLs and `--url`, as the n-th file is that of the n-th URL; `-o` and
/// `-O`; the kinds of `--data` and of `--form`, which their values are marked with.
enum CommandWords {
  /// Only of commands with curl's options.
  static func canonical(_ words: [String]) -> [String] {
    guard let command = words.first, OptionTable.commands.contains(command) else { return words }
    return [command] + CommandWord.all(words).flatMap { $0.canonical(command) }
  }

  /// The command lines that `--next` divides.
  static func parts(_ words: [String]) -> [[String]] {
    guard let command = words.first, OptionTable.find("next", of: command) != nil else { return [words] }
    let parts = CommandWord.all(words).split(omittingEmptySubsequences: false) { $0.option?.name == "next" }
    return parts.count == 1 ? [words] : parts.map { [command] + $0.flatMap(\.words) }
  }

  /// The words as they are written, their values changed.
  /// - Parameter change: gets the option of a value, nil for a word that is none's value.
  static func mapped(_ words: [String], _ change: (_ option: OptionSpec?, _ value: String) -> String)
    -> [String]
  {
    words.prefix(1)
      + CommandWord.all(words).flatMap { word in
        var word = word
        word.value = word.value.map { change(word.option, $0) }
        return word.words
      }
  }

  /// What is said of the first letter that a command does not have, as curl's users write `fetch -v`; nil without one.
  static func unknownLetter(_ words: [String]) -> String? {
    guard let command = words.first, OptionTable.commands.contains(command) else { return nil }
    let letters = CommandWord.all(words).filter(\.isLetter).compactMap(\.name).filter { $0 != "h" }
    guard let letter = letters.first(where: { OptionTable.find($0, of: command) == nil }) else { return nil }
    let reason = OptionTable.refusal(letter, of: command).map { ": \($0)" }
    return "\(command) has no option '-\(letter)'\(reason ?? "; 'netspool \(command) --help' lists them")"
  }
}

/// An option with its value, or a word that is none.
struct CommandWord {
  /// The option as it is written, with its dashes; nil for a word that is none.
  private let dashed: String?
  /// Nil for flags, and at the end of a command line that lacks it.
  var value: String?
  /// True when the value stands in the option's own word.
  private var isJoined = false
  /// Nil for what no command has.
  private(set) var option: OptionSpec?

  /// The option's name, a letter or a long one; empty for `--`.
  var name: String? { dashed.map { String($0.drop { $0 == "-" }) } }
  var isLetter: Bool { dashed?.hasPrefix("-") == true && dashed?.hasPrefix("--") == false }

  /// All behind the command.
  static func all(_ words: [String]) -> [CommandWord] {
    let command = words.first ?? ""
    var (rest, output) = (words.dropFirst(), [CommandWord]())
    while let word = rest.popFirst() {
      if word == "--" {
        output.append(CommandWord(dashed: word))
        return output + rest.map { CommandWord(dashed: nil, value: $0) }
      } else if word.hasPrefix("--") {
        output.append(long(word, &rest, command))
      } else if word.hasPrefix("-"), word.utf8.count > 1 {
        output += short(word.dropFirst(), &rest, command)
      } else {
        output.append(CommandWord(dashed: nil, value: word))
      }
    }
    return output
  }

  /// `--data x`, `--data=x`, `--silent`.
  private static func long(_ word: String, _ rest: inout ArraySlice<String>, _ command: String)
    -> CommandWord
  {
    let dashed = word.prefix { $0 != "=" }
    let option = OptionTable.find(String(dashed.dropFirst(2)), before: command)
    guard option?.value != nil else { return CommandWord(dashed: word, option: option) }
    let own = dashed.endIndex < word.endIndex ? String(word[dashed.endIndex...].dropFirst()) : nil
    return CommandWord(
      dashed: String(dashed), value: own ?? rest.popFirst(), isJoined: own != nil, option: option)
  }

  /// `-sSLo file`, `-XPOST`: flags, and at their end perhaps an option with its value in the same word or the next.
  private static func short(
    _ letters: Substring, _ rest: inout ArraySlice<String>, _ command: String
  ) -> [CommandWord] {
    var (letters, output) = (letters, [CommandWord]())
    while let letter = letters.popFirst() {
      var word = CommandWord(dashed: "-\(letter)", option: OptionTable.find(String(letter), before: command))
      if word.option?.value != nil {
        word.isJoined = !letters.isEmpty
        word.value = letters.isEmpty ? rest.popFirst() : String(letters)
        letters = ""
      }
      output.append(word)
    }
    return output
  }

  /// As it is written, each option in a word of its own.
  var words: [String] {
    guard let dashed, let value else { return [dashed ?? value ?? ""] }
    return isJoined ? [dashed + (isLetter ? "" : "=") + value] : [dashed, value]
  }

  fileprivate func canonical(_ command: String) -> [String] {
    let isFetch = command == "fetch"
    guard let dashed else { return isFetch ? words : Self.written("--url", value ?? "") }
    if dashed == "--" { return isFetch ? words : [] }
    guard let option, option.value != nil else {
      return option?.name == "remote-name" && !isFetch ? ["--output=\(TargetOptions.remoteName)"] : words
    }
    let long = isLetter ? "--\(option.name)" : dashed
    guard let value else { return [long] }
    guard option.has("kind") else { return Self.written(long, value) }
    let name = option.name.split(separator: "-", maxSplits: 1)
    return ["--\(name[0])=\(name.dropFirst().first ?? "")\(Self.divider)\(value)"]
  }

  /// The parser takes an option that ends with `=` for one without a value.
  private static func written(_ name: String, _ value: String) -> [String] {
    value.isEmpty ? [name, ""] : ["\(name)=\(value)"]
  }

  /// No argument holds a NUL, so it divides a value from its kind.
  private static let divider: Character = "\0"

  /// A value and its kind, which is empty where that is not said.
  static func unmarked(_ argument: String) -> (kind: String, value: String) {
    guard let divider = argument.firstIndex(of: Self.divider) else { return ("", argument) }
    return (String(argument[..<divider]), String(argument[argument.index(after: divider)...]))
  }
}
