import ArgumentParser
import NetSpool

struct CookieOptions: ParsableArguments {
  @Option("cookie") var cookie: [String] = []
  @Option("cookie-jar") var cookieJar: String?

  /// Sends what stands on the command line itself.
  func add(to headers: inout NetworkRequest.Headers, unless isNamed: Bool) {
    let texts = cookie.filter { $0.contains("=") }
    if !texts.isEmpty, !isNamed { headers.set("Cookie", texts.joined(separator: "; ")) }
  }

  /// Throws for a file that is there and cannot be read.
  func apply(to configuration: inout NetworkEngine.Configuration) throws(IOFailure) {
    if cookieJar != nil || !files.isEmpty { configuration.cookies = .inMemory }
    for file in files { configuration.cookieLines += try CookieFile.lines(of: file) }
  }

  /// The files; one that is not there is an empty one, as with curl.
  var files: [String] { cookie.filter { !$0.contains("=") } }
}
