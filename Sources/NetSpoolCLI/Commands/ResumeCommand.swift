/// The command that goes on where a stopped job left off, ready to paste.
enum ResumeCommand {
  /// The same command, with `--resume` if there is a results file that says what is done. Without one, the
  /// same command again finds what it fetched in the cache.
  static func text(_ arguments: [String], _ options: FetchOptions) -> String {
    var words = ["netspool"] + arguments
    let isResumable = options.results != nil && options.results != "-"
    if isResumable && !options.resume { words.append("--resume") }
    return words.map(quoted).joined(separator: " ")
  }

  /// Quoted for a POSIX shell where that is needed.
  static func quoted(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.utf8.allSatisfy(isPlain)
    return isPlain
      ? word
      : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "_-./:,=+@%".utf8.contains(byte)
  }
}
