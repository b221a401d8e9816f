/// `--curl`: the library tells the request as a curl command; here are curl's words for what the command line asks besides.
enum CurlWords {
  /// - Parameter number: which of the command line's URLs it is for, from 0.
  static func of(_ words: [String], for number: Int, omitted: [String]) -> [String] {
    var output = omitted.filter { $0.lowercased() != "user-agent" }.flatMap { ["--header", "\($0):"] }
    let options = CommandWord.all(words)
    // What holds here unless told otherwise.
    for name in ["compressed", "location"] where !options.contains(where: { $0.option?.name == name }) {
      output.append("--\(name)")
    }
    var places = 0
    for word in options {
      guard let option = word.option, option.has("curl") || word.name == "continue" else { continue }
      if ["output", "remote-name"].contains(option.name) {
        places += 1
        if places != number + 1 { continue }
      }
      output += Self.words(word, option)
    }
    return output
  }

  private static func words(_ word: CommandWord, _ option: OptionSpec) -> [String] {
    if option.name == "continue" { return ["--continue-at", "-"] }
    guard let value = word.value else {
      // The opposite of a flag is nothing to curl.
      return option.names.contains(word.name ?? "") ? ["--\(option.name)"] : []
    }
    switch option.value {
    case "time": return ["--\(option.name)", TimeSpan(value).map(seconds) ?? value]
    case "bytes": return ["--\(option.name)", ByteSize(value).map { "\($0.bytes)" } ?? value]
    // Cookies of the command line itself are a field of the request.
    case _ where option.name == "cookie" && value.contains("="): return []
    default: return ["--\(option.name)", value]
    }
  }

  /// curl's times have no units.
  private static func seconds(_ span: TimeSpan) -> String {
    let (whole, rest) = (span.nanoseconds / 1_000_000).quotientAndRemainder(dividingBy: 1_000)
    return rest == 0 ? "\(whole)" : "\(whole).\(HumanText.padded(Int(rest), to: 3, with: "0"))"
  }
}
