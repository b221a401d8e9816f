/// An origin in your test process, on 127.0.0.1 and a port of its own, with or without TLS. You script its answers,
/// down to the byte and the reset, and inspect what it received.
/// ```swift
/// let origin = try ScriptedOrigin()
/// origin.on("/hello", .text("hello"))
/// origin.enqueue(.status(503), .pattern(1 << 20).resetAfter(1000), .text("third time lucky"))
/// // ... send requests to origin.url("/hello") ...
/// #expect(origin.requests.first?.header("Accept") == "*/*")
/// ```
/// With TLS it has a certificate of its own, which ``certificateAuthority`` vouches for, and speaks HTTP/2 with clients
/// that want it. The scripts are the same, and written as HTTP/1.1 would send them: HTTP/2 has each answer as a gateway
/// before such an origin would, 1xx and trailers included, and what is no HTTP/1.1 is a stream that is reset.
///
/// It serves keep-alive and pipelined requests, chunked bodies, `Expect: 100-continue` and HEAD, reads requests
/// strictly (see ``rejectedRequests``), and stands thousands of connections on one thread.
///
/// Every member may be used from any thread. Closures given to it run on its thread, one at a time: they must not
/// wait for anything the origin does, and should capture it weakly: it keeps them as long as it lives.
public final class ScriptedOrigin: Sendable {
  let state: OriginState
  private let home: LoopbackPort
  private let tls: TLSContext?

  /// The TCP port, the same for the whole life of the origin.
  public var port: Int { home.number }
  /// The limits of what it accepts and keeps.
  public var limits: OriginLimits { state.limits }

  /// An origin that is already serving. Its port is free to choose for the system.
  ///
  /// - Parameters:
  ///   - limits: what it accepts and keeps.
  ///   - tls: its certificate; nil, the default, is no TLS.
  ///   - clock: what its answers wait by; nil, the default: real time.
  ///   - starts: false leaves it stopped: its port refuses connections until ``start()``.
  /// - Throws: ``OriginError`` when the system gives no socket or thread, or, with TLS, has no OpenSSL.
  public init(
    limits: OriginLimits = OriginLimits(), tls: OriginTLS? = nil, clock: ManualClock? = nil,
    starts: Bool = true
  ) throws(OriginError) {
    self.tls = if let tls { try TLSContext(tls) } else { nil }
    state = OriginState(limits: limits, waker: try Waker(), clock: clock)
    home = try LoopbackPort(waker: state.waker)
    if starts { try start() }
  }

  deinit { stop() }

  /// PEM of the authority that a client must trust to talk to this origin; nil without TLS. Each origin has another one.
  public var certificateAuthority: String? { tls?.authority }

  /// `http://127.0.0.1:<port>`, with TLS `https`, and this path, which may have a query.
  public func url(_ path: String = "/") -> String { url(path, host: "127.0.0.1") }

  /// The same with another name for the host: `localhost` is another origin to a client, but the same one here.
  public func url(_ path: String, host: String) -> String {
    "\(tls == nil ? "http" : "https")://\(host):\(port)\(path)"
  }

  /// True when it is serving.
  public var isRunning: Bool { home.isUp }

  /// Serves; does nothing when it already does. Scripts, gates and records are as they were.
  ///
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public func start() throws(OriginError) {
    // The thread holds the state, not the origin: so the last reference can go while it runs.
    try home.start { [state, tls] listener, token in
      OriginLoop(state: state, listener: listener, tls: tls, token: token).run()
    }
  }

  /// Goes down: closes the port and every connection, whatever it is doing, and waits until that is done. From
  /// then on connections are refused. Does nothing when it is down already.
  ///
  /// Called by one of its own closures it cannot wait, and is down a moment later.
  public func stop() { home.stop() }

  /// Comes back on the same port: ``stop()``, if need be, and ``start()``.
  ///
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public func restart() throws(OriginError) {
    stop()
    try start()
  }
}

/// Its answers. A request gets, in this order, the next answer queued for its path, the answer of its path's
/// route, that of the longest prefix that fits, the next answer queued for every path, and the fallback.
extension ScriptedOrigin {
  /// Queues answers: each request that no route takes gets the next of them.
  public func enqueue(_ answers: Answer...) { state.changeRoutes { $0.enqueue(answers, path: nil) } }

  /// Queues answers for the requests to this path; when they are used up its route comes in again.
  public func enqueue(_ answers: Answer..., for path: String) {
    state.changeRoutes { $0.enqueue(answers, path: path) }
  }

  /// Answers every request to this path, whatever its query, with the same answer; with a method, only those of it.
  public func on(_ path: String, method: String? = nil, _ answer: Answer) {
    state.changeRoutes { $0.set(path, method, .fixed(answer)) }
  }

  /// Answers every request to this path with what the closure makes of it, on the origin's thread; with a method, only
  /// those of it.
  public func on(_ path: String, method: String? = nil, _ closure: @escaping AnswerClosure) {
    state.changeRoutes { $0.set(path, method, .made(closure)) }
  }

  /// Answers every request whose path begins with this prefix.
  public func on(prefix: String, _ answer: Answer) {
    state.changeRoutes { $0.set(prefix: prefix, .fixed(answer)) }
  }

  /// Answers every request whose path begins with this prefix with what the closure makes of it.
  public func on(prefix: String, _ closure: @escaping AnswerClosure) {
    state.changeRoutes { $0.set(prefix: prefix, .made(closure)) }
  }

  /// Looks at requests to this path when only their head is there, on the origin's thread: an answer is sent at
  /// once, whatever is to come of the body; nil lets the request go on to queues and routes.
  public func onHead(_ path: String, _ closure: @escaping @Sendable (RecordedRequest) -> Answer?) {
    state.changeRoutes { $0.setHead(path, closure) }
  }

  /// Answers requests for which nothing else is scripted. Until it is set they get 404.
  public func fallback(_ answer: Answer) { state.changeRoutes { $0.fallback = .fixed(answer) } }

  /// Answers requests for which nothing else is scripted with what the closure makes of them.
  public func fallback(_ closure: @escaping AnswerClosure) {
    state.changeRoutes { $0.fallback = .made(closure) }
  }

  /// The answer to `Expect: 100-continue`. Default ``ExpectPolicy/answer``.
  public var expectPolicy: ExpectPolicy {
    get { state.expectPolicy }
    set { state.expectPolicy = newValue }
  }
}

/// The limits of a ``ScriptedOrigin``. Everything has a limit, so that a runaway client fails its own test
/// and not the machine.
public struct OriginLimits: Sendable {
  /// Bytes of request line and header fields; more is answered 431. Default 65,536.
  public var headBytesMax = 65_536
  /// Header fields of one request; more is answered 431. Default 1,000.
  public var headerFieldsMax = 1_000
  /// Bytes of each request body that are kept for inspection; all of them are counted and hashed. Default 64 MiB.
  public var keptBodyBytesMax = 64 << 20
  /// Requests kept for inspection; older ones are dropped, though they stay counted. Default 10,000.
  public var keptRequestsMax = 10_000
  /// Bytes of all bodies that are kept for inspection; beyond it the oldest requests are dropped, though they stay
  /// counted. Default 256 MiB.
  public var keptBytesMax = 256 << 20
  /// Different paths whose hits are counted; later ones count as 0. Default 1,000,000.
  public var countedPathsMax = 1_000_000
  /// Connections open at once; more wait in the listen queue. Default 4,096.
  public var connectionsMax = 4_096
  /// Requests under way at once on one HTTP/2 connection. Default 250.
  public var streamsMax = 250
  /// The time for which a closing connection reads on, so that unread request bytes do not turn the end of an
  /// answer into a reset. Default 1 second.
  public var lingerTime = Duration.seconds(1)

  /// The defaults above.
  public init() {}
}

/// Why an origin could not be started: the system call that failed, and its `errno`.
public struct OriginError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The call's name, for example `bind`.
  public let call: String
  /// Its `errno`.
  public let errno: Int32

  /// The call and its number in one line.
  public var description: String { "ScriptedOrigin: \(call) failed with errno \(errno)" }
}

/// The answer of an origin to `Expect: 100-continue` (RFC 9110 section 10.1.1).
public enum ExpectPolicy: Sendable, Equatable {
  /// Sends `100 Continue` as soon as it has read the head, unless the body has begun already.
  case answer
  /// Says nothing and waits for the body, as an origin that does not know the field.
  case ignore
  /// Answers `417 Expectation Failed` without the body, and closes the connection.
  case refuse
}
