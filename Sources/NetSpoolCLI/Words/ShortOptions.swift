import ArgumentParser

/// What is said of a letter that is no option of a command: who knows curl writes `fetch -v` before reading anything.
enum ShortOptions {
  /// Nil when the command has every letter of the command line.
  static func unknown(_ words: [String]) -> String? {
    guard let command = words.first, let help = help(command) else { return nil }
    let known = letters(in: help)
    guard let letter = CommandWords.letters(words).first(where: { !known.contains($0) }) else { return nil }
    let hint = (command == "fetch" ? advice[letter] : nil) ?? missing[String(letter)]
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
    "N": "files appear when they are whole", "j": "--jobs has no letter",
    "G": "write the query into the URLs",
  ]

  /// Options of curl's that are not here, and why; the table in the documentation has them, too.
  static let missing: [String: String] = [
    "next": nextCommand, ":": nextCommand,
    "location-trusted": "secrets go to the server that they are for alone",
    "path-as-is": "'/../' is taken out of every path",
    "connect-to": "--resolve leads a host to another address",
    "proxy-digest": proxyBasic, "proxy-ntlm": proxyBasic, "proxy-anyauth": proxyBasic,
    "proxy-negotiate": proxyBasic,
    "proxy-header": "a proxy is told nothing but --proxy-user", "proxytunnel": tunnel, "p": tunnel,
    "ipv4": family, "4": family, "ipv6": family, "6": family,
    "parallel": "'netspool fetch' takes a list, many at once",
    "Z": "'netspool fetch' takes a list, many at once",
    "http1.0": "HTTP/1.1 is the oldest version", "0": "HTTP/1.1 is the oldest version",
    "negotiate": "there is no Kerberos here", "crlfile": "there are no lists of revoked certificates here",
    "tlsv1.0": oldTLS, "tlsv1.1": oldTLS, "sslv3": oldTLS, "ftp-ssl": "only http and https are known here",
    "speed-limit": "a body slower than 100 bytes/s for 30 s has stalled, always",
    "speed-time": "a body slower than 100 bytes/s for 30 s has stalled, always",
    "ignore-content-length": "a length that is wrong is an error",
    "raw": "bodies are decoded; --no-compressed asks for none that must be",
  ]

  private static let nextCommand = "each request with options of its own is a command of its own"
  private static let proxyBasic = "a proxy is told who asks by Basic, or by the user in its URL"
  private static let tunnel = "https goes through a proxy by CONNECT, http does not"
  private static let family = "both families are tried, the faster one wins; --resolve names an address"
  private static let oldTLS = "TLS 1.2 is the oldest version"

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
