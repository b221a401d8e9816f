/// Why an operation did not end with an answer that counts as a success.
///
/// `code` is one word and stable, and so is `cause` within it; `reason` says more, to people; `underlying` keeps the
/// C library's own number. Every operation that fails delivers exactly one of these, on the engine's delivery target.
public struct NetworkError: Error, Sendable {
  private struct Details: Sendable {
    var code: Code
    var reason: String?
    var cause: Cause?
    var subject: String?
    var underlying: Underlying?
    var sendState: SendState
    var url: String?
    var attempts = 1
    var isOfProvider = false
    var thrown: (any Error)?
    var response: [NetworkResponse] = []
    var command: (@Sendable () -> String)?
  }

  /// An array of one is the standard library's own copy-on-write box: the many places that may hold an error, and
  /// hardly ever do, are a word wide.
  private var details: [Details]

  /// A cause that logic goes by, and a subject, are the reason as well, unless a sentence says more.
  init(
    _ code: Code, cause: Cause? = nil, about subject: String? = nil, reason: String? = nil,
    underlying: Underlying? = nil, sendState: SendState = .notSent
  ) {
    details = [
      Details(
        code: code, reason: reason ?? subject ?? cause?.description, cause: cause, subject: subject,
        underlying: underlying, sendState: sendState)
    ]
  }

  /// The cause within the code, for logic. Nil when the code says all that counts.
  public var cause: Cause? { details[0].cause }
  /// The name that others have for it: the number of the process that has a store, the text of a stream's error. Else nil.
  package var subject: String? { details[0].subject }

  /// An error that code of the user's threw: itself, if it is one of these, else one of this code that carries it.
  init(
    thrown error: any Error, _ code: Code, cause: Cause? = nil, reason: String,
    sendState: SendState = .notSent
  ) {
    if let error = error as? NetworkError {
      self = error
    } else {
      self.init(code, cause: cause, reason: reason, sendState: sendState)
      thrown = error
    }
  }

  /// An error of your own making, for `prepare`, `validate` and tests; with the answer that it is about, and with the
  /// error that is behind it.
  public init(code: Code, reason: String? = nil, response: NetworkResponse? = nil, thrown: (any Error)? = nil)
  {
    self.init(code, reason: reason, sendState: response == nil ? .notSent : .answered)
    self.response = response
    self.thrown = thrown
    url = response?.finalURL
  }

  /// An option out of its range.
  static func misconfigured(_ option: String) -> NetworkError {
    NetworkError(.invalidConfiguration, reason: option)
  }

  /// The kind of failure, in one word.
  public internal(set) var code: Code {
    get { details[0].code }
    set { details[0].code = newValue }
  }

  /// The cause within the code: `refused`, `stall`, `hostMismatch`, or a sentence. Nil when the code says it all.
  public internal(set) var reason: String? {
    get { details[0].reason }
    set { details[0].reason = newValue }
  }

  /// The error that a closure, a stream or a decoder of yours threw; nil when it was none, or a `NetworkError`.
  public internal(set) var thrown: (any Error)? {
    get { details[0].thrown }
    set { details[0].thrown = newValue }
  }

  /// The status of the answer that is the error, or that came with it; nil without an answer.
  public var status: Int? { if case .http(let status) = underlying { status } else { response?.status } }

  /// The number that the layer below gave.
  public internal(set) var underlying: Underlying? {
    get { details[0].underlying }
    set { details[0].underlying = newValue }
  }

  /// The answer that came with it: always with `.status`, and with any error that came after the head.
  public internal(set) var response: NetworkResponse? {
    get { details[0].response.first }
    set { details[0].response = newValue.map { [$0] } ?? [] }
  }

  /// The URL it is about, secrets masked: behind redirects the one that they have led to.
  public internal(set) var url: String? {
    get { details[0].url }
    set { details[0].url = newValue.map(Redaction.standard.url) }
  }

  /// The request as a command to paste into a shell, secrets masked, as ``NetworkOperation/curlCommand`` has
  /// it; nil before an operation has ended with the error. Made when it is asked for, from the request, which
  /// the error keeps.
  public var curlCommand: String? { details[0].command?() }

  /// The error of an operation that has ended.
  func of(_ command: @escaping @Sendable () -> String) -> NetworkError {
    var error = self
    error.details[0].command = command
    return error
  }

  /// Attempts made, the last included; 1 also when none was.
  public internal(set) var attempts: Int {
    get { details[0].attempts }
    set { details[0].attempts = newValue }
  }

  /// True when a provider of credentials failed: the answer beside it is the 401 about which it was asked.
  var isOfProvider: Bool {
    get { details[0].isOfProvider }
    set { details[0].isOfProvider = newValue }
  }

  var sendState: SendState {
    get { details[0].sendState }
    set { details[0].sendState = newValue }
  }

  /// The part of the request that the origin may have seen.
  enum SendState: Sendable, Hashable { case notSent, maybeProcessed, answered }

  /// No byte of the request can have been acted upon, so sending it again is safe whatever its method.
  public var isRetrySafe: Bool { sendState == .notSent }

  /// The network, not the origin, was at fault: no route, no name, no listener.
  public var isOffline: Bool {
    switch code.stage {
    case .route, .name, .connection: true
    case .time: cause == .connect
    case .proxy, .handshake, .line, .elsewhere: false
    }
  }

  /// The number that the layer below gave, as that layer means it; never remapped.
  public enum Underlying: Sendable, Hashable {
    /// libcurl's `CURLcode` (libcurl-errors(3)).
    case curl(Int32)
    /// libuv's error number (negative errno).
    case uv(Int32)
    /// LMDB's return code.
    case lmdb(Int32)
    /// A system call's errno.
    case errno(Int32)
    /// An HTTP status.
    case http(Int)
  }
}

extension NetworkError: CustomStringConvertible, CustomReflectable {
  /// Cause, C code with its name, and the URL without secrets:
  /// `connectFailed (refused), curl 7: Couldn't connect to server, https://example.org/`.
  public var description: String {
    var text = code.description
    if let reason { text += " (\(Redaction.printable(reason)))" }
    if let underlying { text += ", \(underlying.sentence)" }
    if let url { text += ", \(url)" }
    return text
  }

  /// The description and the answer: `dump` goes by it.
  public var customMirror: Mirror {
    Mirror(self, children: ["error": description, "response": response?.description ?? "none"])
  }
}
