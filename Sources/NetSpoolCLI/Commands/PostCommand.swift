import ArgumentParser
import Glibc
import NetSpool

/// `netspool post`: one request that changes something.
struct PostCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Send a form, a file or JSON, now or as soon as it can be sent.",
    discussion: """
      With --freeze the request is on disk before its first byte leaves, and is sent again after a dead link, a dead \
      server, a crash or a restart: the same bytes with the same Idempotency-Key. Standard output gets its ticket, \
      then the answer's body. A request that was interrupted is sent by 'netspool frozen thaw', or by the next \
      'post --freeze'. Values of secret headers (Authorization, Cookie, X-...-Key and their like) are never written to \
      the disk: 'frozen thaw --header' gives them again.
      Exit status: 0 answered, or frozen with --detach; 1 refused; 2 it stays frozen; 64 usage; 74 a local file or the \
      frozen store cannot be used; 130 and 143 stopped by a signal.
      """)

  @OptionGroup var options: PostOptions

  func run() throws {
    let stop = StopSwitch.onSignals()
    try JobStatus.exit(Console.standardError()) { console in
      if options.freezing.freeze && !options.curl {
        return try FrozenPost(options: options, console: console, stop: stop).run()
      }
      return try GetRun(options: options, console: console, stop: stop).run()
    }
  }
}

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

extension PostOptions: ExchangeOptions {
  func makeRequest() throws(IOFailure) -> NetworkRequest {
    var request = NetworkRequest(url: url, method: NetworkRequest.Method(method), body: try body.body)
    // The request's own, not the engine's: a Content-Type of the body's would hide the engine's, and whoever sends a
    // frozen one later sends the same.
    request.headers = self.request.headers
    request.idempotencyKey = idempotencyKey
    return request
  }

  func cacheSettings(_ environment: Environment) -> CacheSettings? { nil }
}

extension BodyOptions {
  /// Throws what reading standard input does.
  fileprivate var body: NetworkRequest.Body {
    get throws(IOFailure) {
      if !data.isEmpty { return .bytes(Array(data.joined(separator: "&").utf8), contentType: Self.formType) }
      if !form.isEmpty { return .multipart(Multipart(form)) }
      if let json { return .json(Array(json.utf8)) }
      guard let file else { return .none }
      if file == "-" { return .bytes(try Self.standardInput(), contentType: Self.anyType) }
      return .file(file, contentType: Self.anyType)
    }
  }

  private static let formType = "application/x-www-form-urlencoded"
  private static let anyType = "application/octet-stream"
  /// It is kept in memory.
  private static let standardInputBytesMax = 256 << 20

  private static func standardInput() throws(IOFailure) -> [UInt8] {
    let input = Descriptor(borrowing: 0, named: "standard input")
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: OutputFile.bufferBytes))
    while true {
      let count = try input.read(into: &buffer, at: 0, count: buffer.count)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      if bytes.count > standardInputBytesMax {
        throw IOFailure(action: "read", path: "standard input", code: EFBIG)
      }
    }
  }
}

extension Multipart {
  fileprivate init(_ fields: [FormField]) {
    self.init()
    for field in fields {
      switch field.content {
      case .text(let text): addField(text, forKey: field.name)
      case .file(let path, let type): addFile(path, forKey: field.name, mimeType: type)
      }
    }
  }
}
