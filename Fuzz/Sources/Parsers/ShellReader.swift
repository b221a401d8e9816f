/// As much of POSIX sh as a curl command may use: plain words, single quotes, a backslash before a quote, pipes.
enum ShellReader {
  /// The words of each command of a pipeline; nil for anything that sh might take for more than words.
  static func words(of text: String) -> [[String]]? {
    var reader = Reader(rest: Array(text.utf8)[...])
    return reader.read()
  }

  /// What `printf %s TEXT`, or that through `base64 -d`, prints.
  static func printed(by commands: some Collection<[String]>) -> [UInt8]? {
    guard let first = commands.first, first.count == 3, first[0] == "printf", first[1] == "%s" else {
      return nil
    }
    if commands.count == 1 { return Array(first[2].utf8) }
    return Array(commands.dropFirst().first ?? []) == ["base64", "-d"] ? decoded(first[2]) : nil
  }

  private static func decoded(_ text: String) -> [UInt8]? {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var (bits, count): (UInt32, Int) = (0, 0)
    var output: [UInt8] = []
    for byte in text.utf8 where byte != UInt8(ascii: "=") {
      guard let value = alphabet.firstIndex(of: byte) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return output
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>
    var commands: [[String]] = [[]]
    var word: [UInt8]?

    mutating func read() -> [[String]]? {
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: " "): endWord()
        case UInt8(ascii: "|"):
          endWord()
          commands.append([])
        case UInt8(ascii: "'"):
          guard let end = rest.firstIndex(of: UInt8(ascii: "'")) else { return nil }
          word = (word ?? []) + rest[..<end]
          rest = rest[(end + 1)...]
        case UInt8(ascii: "\\"):
          guard rest.popFirst() == UInt8(ascii: "'") else { return nil }
          word = (word ?? []) + [UInt8(ascii: "'")]
        case _ where isPlain(byte): word = (word ?? []) + [byte]
        default: return nil
        }
      }
      endWord()
      return commands
    }

    private mutating func endWord() {
      if let word { commands[commands.count - 1].append(String(decoding: word, as: UTF8.self)) }
      word = nil
    }

    private func isPlain(_ byte: UInt8) -> Bool {
      let letter = byte | 0x20
      return letter >= 0x61 && letter <= 0x7A || byte >= 0x30 && byte <= 0x39
        || "-_./:,@+=%;".utf8.contains(byte)
    }
  }
}

/// curl(1)'s reading of its words.
struct CurlWords {
  var urls: [String] = []
  var headers: [String] = []
  var data: String?
  var isRaw = false
  private var request: String?
  private(set) var isUnderstood = true

  init(_ words: [String]) {
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      switch word {
      case "-H": headers.append(rest.popFirst() ?? "")
      case "-X": request = rest.popFirst()
      case "--head": request = "HEAD"
      case "--url": urls.append(rest.popFirst() ?? "")
      case "--data-binary", "--data-raw":
        data = rest.popFirst()
        isRaw = word == "--data-raw"
      case "--globoff", "--basic": break
      case "--proto", "--user": _ = rest.popFirst()
      default:
        if word.hasPrefix("-") { isUnderstood = false } else { urls.append(word) }
      }
    }
  }

  var method: String { request ?? (data == nil ? "GET" : "POST") }
  var bytes: [UInt8]? { data.map { Array($0.utf8) } ?? [] }
}
