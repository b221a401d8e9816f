import ArgumentParser

/// The options of `netspool post`.
struct PostOptions: ParsableArguments {
  @Argument(help: "The URL, with http:// or https://.")
  var url: String

  @Option(
    name: [.customShort("X"), .long, .customLong("request")],
    help: ArgumentHelp("The request method: POST, PUT, PATCH, DELETE.", valueName: "method"))
  var method = "POST"

  @OptionGroup(title: "What to send") var body: BodyOptions

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Write the answer's body to this file instead of standard output ('-'). It appears when it is whole.",
      valueName: "file"))
  var output: String?

  @Flag(name: [.short, .long], help: "Show headers and timings on standard error, secrets masked.")
  var verbose = false

  @Flag(help: "Print the equivalent curl command, secrets and all, and send nothing.")
  var curl = false

  @Option(
    help: ArgumentHelp(
      "Send this key with every attempt, so that the origin acts once; makes a POST repeatable. With --freeze a key "
        + "is drawn if none is given.", valueName: "key"))
  var idempotencyKey: String?

  @OptionGroup(title: "Freezing") var freezing: FreezingOptions

  @OptionGroup(title: "Request options") var request: RequestOptions

  /// They change nothing, so there is nothing to keep.
  private static let safeMethods = ["GET", "HEAD", "OPTIONS", "TRACE"]

  func validate() throws {
    if let problem = URLText.problem(url) {
      throw ValidationError("'\(URLText.masked(url))': \(problem.sentence).")
    }
    guard !method.isEmpty, method.utf8.allSatisfy(HeaderField.isTokenByte) else {
      throw ValidationError("--method is a method such as POST, PUT, PATCH or DELETE.")
    }
    if let idempotencyKey, !Self.isKey(idempotencyKey) {
      throw ValidationError(
        "--idempotency-key is 1 to 255 printable ASCII characters, without '\"' and '\\'.")
    }
    guard freezing.freeze else { return }
    if Self.safeMethods.contains(method) {
      throw ValidationError("\(method) changes nothing, so it is not frozen: ask again with 'netspool get'.")
    }
    if request.limitRate != nil { throw ValidationError("--limit-rate and --freeze contradict each other.") }
  }

  private static func isKey(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }
}
