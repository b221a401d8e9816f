import ArgumentParser
import NetSpool

struct CookieOptions: ParsableArguments {
  @Option("cookie") var cookie: [String] = []
  @Option("cookie-jar") var cookieJar: String?

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

  /// True if cookies are kept from answer to request.
  private var areKept: Bool { cookieJar != nil || !files.isEmpty }
}
