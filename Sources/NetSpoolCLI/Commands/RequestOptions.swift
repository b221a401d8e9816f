import ArgumentParser

/// What every command that sends requests understands.
struct RequestOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Send a header, as 'Name: value'. Repeatable.", valueName: "field"))
  var header: [HeaderField] = []

  @Option(help: ArgumentHelp("Send this User-Agent. Default: netspool/VERSION.", valueName: "text"))
  var userAgent: String?

  @Option(
    help: ArgumentHelp(
      "Give a request up after this long, retries not included: 30s, 5m, 1h. A stalled transfer ends "
        + "earlier, after 30 s without progress.", valueName: "time"))
  var timeout = TimeSpan(seconds: Double(Self.timeoutSeconds))

  @Option(
    help: ArgumentHelp(
      "Try a request this many times more when it fails for now. Retry-After is honoured.",
      valueName: "n"))
  var retry = Self.retries

  @Option(
    help: ArgumentHelp(
      "Receive at most this many bytes per second: 500k, 2M (binary units).", valueName: "bytes"))
  var limitRate: ByteSize?

  static let timeoutSeconds = 300
  static let retries = 2
  /// The most retries that make sense: the pauses double each time.
  static let retryMax = 100

  func validate() throws {
    guard (0...Self.retryMax).contains(retry) else {
      throw ValidationError("--retry is a number from 0 to \(Self.retryMax).")
    }
    if let userAgent, userAgent.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw ValidationError("--user-agent must not contain control characters.")
    }
  }
}
