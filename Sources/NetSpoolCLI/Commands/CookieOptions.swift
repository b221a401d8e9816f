import ArgumentParser
import NetSpool

/// `-b` and `-c`.
struct CookieOptions: ParsableArguments {
  @Option(
    name: [.customShort("b"), .long],
    help: ArgumentHelp(
      "Send these cookies, as 'name=value; other=value', or those of a file that --cookie-jar or a browser wrote.",
      valueName: "data|file"), completion: .file())
  var cookie: [String] = []

  @Option(
    name: [.customShort("c"), .long],
    help: ArgumentHelp(
      "Keep cookies, redirects included, and write all of them to this file when it is done.",
      valueName: "file"), completion: .file())
  var cookieJar: String?

  /// Sends what stands on the command line itself.
  func add(to headers: inout NetworkRequest.Headers, unless isNamed: Bool) {
    if let field, !isNamed { headers.set("Cookie", field) }
  }

  /// Throws for a file that is there and cannot be read.
  func apply(to configuration: inout NetworkEngine.Configuration) throws(IOFailure) {
    if areKept { configuration.cookies = .inMemory }
    for file in files { configuration.cookieLines += try CookieFile.lines(of: file) }
  }

  private var field: String? {
    let texts = cookie.filter { $0.contains("=") }
    return texts.isEmpty ? nil : texts.joined(separator: "; ")
  }

  /// The files; one that is not there is an empty one, as with curl.
  var files: [String] { cookie.filter { !$0.contains("=") } }

  /// Whether cookies are kept from answer to request.
  private var areKept: Bool { cookieJar != nil || !files.isEmpty }
}
