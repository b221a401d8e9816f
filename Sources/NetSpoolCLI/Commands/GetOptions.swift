import ArgumentParser

/// The options of `netspool get`.
struct GetOptions: ParsableArguments {
  @Argument(help: "The URL, with http:// or https://.")
  var url: String

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Write the body to this file instead of standard output.", valueName: "file"))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "User name and password. Basic unless another scheme is named.", valueName: "user:password"))
  var user: String?

  @Flag(help: "Authenticate with Digest.")
  var digest = false

  @Flag(help: "Authenticate with NTLM; the user is 'DOMAIN\\user'.")
  var ntlm = false

  @Flag(name: [.short, .long], help: "Show headers and timings on standard error.")
  var verbose = false

  @Flag(help: "Print the equivalent curl command and send nothing.")
  var curl = false

  @OptionGroup(title: "Request options") var request: RequestOptions

  /// User and password, split at the first colon: a password may contain more of them.
  var credentials: (user: String, password: String)? {
    guard let user, let colon = user.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    return (String(user[..<colon]), String(user[user.utf8.index(after: colon)...]))
  }

  func validate() throws {
    if let problem = URLText.problem(url) {
      throw ValidationError("'\(URLText.masked(url))': \(problem.sentence).")
    }
    if user != nil && credentials == nil {
      throw ValidationError("--user is 'name:password'.")
    }
    if (digest || ntlm) && user == nil {
      throw ValidationError("--digest and --ntlm need --user.")
    }
    if digest && ntlm {
      throw ValidationError("Choose one of --digest and --ntlm.")
    }
  }
}
