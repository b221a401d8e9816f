import ArgumentParser

/// What is said of a letter that is no option of a command: who knows curl writes `fetch -v` before reading anything.
enum ShortOptions {
  /// Nil when the command has every letter of the command line.
  static func unknown(_ words: [String]) -> String? {
    guard let command = words.first, let help = help(command) else { return nil }
    let known = letters(in: help)
    guard let letter = CommandWords.letters(words).first(where: { !known.contains($0) }) else { return nil }
    let hint = command == "fetch" ? advice[letter] : nil
    return
      "\(command) has no option '-\(letter)'\(hint.map { ": \($0)" } ?? "; 'netspool \(command) --help' lists them")"
  }

  /// What `fetch` has in place of an option of curl's.
  private static let advice: [Character: String] = [
    "v": "'netspool get -v' shows what is sent and received of one URL, --results what became of each",
    "O": "--output names a folder, and files in it are called as their URLs end",
    "J": "files are called as their URLs end, or as the list says",
    "C": "large files go on where they broke off; --no-continue for not",
    "d": bodies, "F": bodies, "T": bodies,
    "X": "a list is asked with GET; 'netspool get -X' has other methods",
    "I": "'netspool get -I' shows the head of an answer; --har writes the heads of all",
    "i": "--har writes the heads of all answers", "D": "--har writes the heads of all answers",
    "w": "--results writes a line of JSON for each URL, --json a summary",
    "r": "--header 'Range: bytes=0-499' asks for a part of each",
    "f": "a status of 400 and more is a failure, and its body goes nowhere",
    "S": "--quiet tells what stops the job all the same",
    "z": "--newer asks for what is newer than its file",
    "Z": "--jobs says how many transfers there are at once",
    "N": "files appear when they are whole", "g": "URLs are taken as they stand", "j": "--jobs has no letter",
    "G": "write the query into the URLs", "K": "--output and its like stand in the configuration file",
  ]

  private static let bodies = "it sends no bodies; 'netspool post' does"

  private static func help(_ command: String) -> String? {
    switch command {
    case "fetch": FetchCommand.helpMessage(includeHidden: true, columns: 400)
    case "get": GetCommand.helpMessage(includeHidden: true, columns: 400)
    case "post": PostCommand.helpMessage(includeHidden: true, columns: 400)
    default: nil
    }
  }

  /// `  -o, --output <file>   Write...`: the words of one dash and one letter, before the text.
  private static func letters(in help: String) -> Set<Character> {
    var letters: Set<Character> = []
    for line in help.split(separator: "\n") where line.hasPrefix("  -") {
      for word in line.split(whereSeparator: { " ,/".contains($0) }).prefix(while: { $0.hasPrefix("-") }) {
        if !word.hasPrefix("--"), let letter = word.dropFirst().first { letters.insert(letter) }
      }
    }
    return letters
  }
}
