/// Why an operation did not end with an answer that counts as a success.
///
/// `code` is one word and stable; `reason` says more; `underlying` keeps the C library's own number.
/// Every operation that fails delivers exactly one of these, on the engine's delivery target.
public struct NetworkError: Error, Sendable {
  var failure: Failure

  init(_ failure: Failure) { self.failure = failure }

  /// An error of your own making, for `prepare`, `validate` and tests.
  public init(code: Code, reason: String? = nil) {
    failure = Failure(code.core, reason: reason)
  }

  /// What went wrong, in one word.
  public var code: Code { Code(failure.code) }

  /// The cause within the code: `refused`, `stall`, `hostMismatch`, or a sentence. Nil when the code says it all.
  public var reason: String? { failure.reason }

  /// The number that the layer below gave.
  public var underlying: Underlying? { failure.underlying.map(Underlying.init) }

  /// The answer that came with it: always with `.status`, and with any error that came after the head.
  public var response: NetworkResponse? { failure.response.map(NetworkResponse.init) }

  /// The URL it is about, secrets masked.
  public var url: String? { failure.url }

  /// Attempts made, the last included; 1 also when none was.
  public var attempts: Int { failure.attempts }

  /// No byte of the request can have been acted upon, so sending it again is safe whatever its method.
  public var isRetrySafe: Bool { failure.sendState == .notSent }

  /// The network, not the origin, was at fault: no route, no name, nobody listening.
  public var isOffline: Bool {
    switch failure.code {
    case .offline, .resolveFailed, .connectFailed: true
    case .timedOut: failure.reason == "connect"
    default: false
    }
  }

  /// The number that the layer below gave, as that layer means it.
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

    init(_ core: Failure.Underlying) {
      self =
        switch core {
        case .curl(let code): .curl(code)
        case .uv(let code): .uv(code)
        case .lmdb(let code): .lmdb(code)
        case .errno(let code): .errno(code)
        case .http(let status): .http(status)
        }
    }
  }
}

extension NetworkError: CustomStringConvertible {
  /// Cause, C code with its name, and the URL without secrets:
  /// `connectFailed (refused), curl 7: Couldn't connect to server, https://example.org/`.
  public var description: String { failure.sentence }
}
