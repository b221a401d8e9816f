/// What the program is called.
enum ProcessName {
  /// The program's file name, as a token that may stand in a header field.
  static let token: String = {
    let path = CommandLine.arguments.first ?? ""
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let kept = name.utf8.filter { $0.isTokenByte }
    return kept.isEmpty ? "netspool" : String(decoding: kept, as: UTF8.self)
  }()
}
