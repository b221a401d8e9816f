import Synchronization

/// An HTTP/1.1 origin in your test process, on 127.0.0.1 and a port of its own. You script its answers, down to
/// the byte and the reset, and inspect what it received.
/// ```swift
/// let origin = try ScriptedOrigin()
/// origin.on("/hello", .text("hello"))
/// origin.enqueue(.status(503), .pattern(1 << 20).resetAfter(1000), .text("third time lucky"))
/// // ... send requests to origin.url("/hello") ...
/// #expect(origin.requests.first?.header("Accept") == "*/*")
/// ```
/// It serves keep-alive and pipelined requests, chunked bodies, `Expect: 100-continue` and HEAD, reads requests
/// strictly (see ``rejectedRequests``), and stands thousands of connections on one thread.
///
/// Every member may be used from any thread. Closures given to it run on its thread, one at a time: they must not
/// wait for anything the origin does, and should capture it weakly: it keeps them as long as it lives.
public final class ScriptedOrigin: Sendable {
  private struct Running: Sendable {
    let thread: OriginThread
    let token: StopToken
  }

  let state: OriginState
  /// Bound but never listening: while the origin is stopped, its port refuses connections and nobody else gets it.
  private let reservation: Int32
  private let running = Mutex<Running?>(nil)

  /// The TCP port, the same for the whole life of the origin.
  public let port: Int
  /// What it accepts and keeps.
  public var limits: OriginLimits { state.limits }

  /// An origin that is already serving. Its port is free to choose for the system.
  ///
  /// - Parameters:
  ///   - limits: what it accepts and keeps.
  ///   - starts: false leaves it stopped: its port refuses connections until ``start()``.
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public init(limits: OriginLimits = OriginLimits(), starts: Bool = true) throws(OriginError) {
    state = OriginState(limits: limits, waker: try Waker())
    let reserved = try Socket.bound(port: 0)
    reservation = reserved
    do throws(OriginError) {
      port = Int(try Socket.port(of: reserved))
    } catch {
      Socket.finish(reserved)
      throw error
    }
    if starts { try start() }
  }

  deinit {
    stop()
    Socket.finish(reservation)
  }

  /// `http://127.0.0.1:<port>` and this path, which may have a query.
  public func url(_ path: String = "/") -> String { url(path, host: "127.0.0.1") }

  /// The same with another name for the host: `localhost` is another origin to a client, but the same one here.
  public func url(_ path: String, host: String) -> String { "http://\(host):\(port)\(path)" }

  /// Whether it is serving.
  public var isRunning: Bool { running.withLock { $0 != nil } }

  /// Serves; does nothing when it already does. Scripts, gates and records are as they were.
  ///
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public func start() throws(OriginError) {
    try running.withLock { running throws(OriginError) in
      guard running == nil else { return }
      running = try launch()
    }
  }

  private func launch() throws(OriginError) -> Running {
    let listener = try Socket.listening(port: UInt16(port))
    let token = StopToken()
    do throws(OriginError) {
      // The thread holds the state, not the origin: so the last reference can go while it runs.
      let thread = try OriginThread { [state] in
        OriginLoop(state: state, listener: listener, token: token).run()
      }
      return Running(thread: thread, token: token)
    } catch {
      Socket.finish(listener)
      throw error
    }
  }

  /// Goes down: closes the port and every connection, whatever it is doing, and waits until that is done. From
  /// then on connections are refused. Does nothing when it is down already.
  ///
  /// Called by one of its own closures it cannot wait, and is down a moment later.
  public func stop() {
    let stopped = running.withLock { running in
      defer { running = nil }
      return running
    }
    stopped?.token.stop()
    state.waker.wake()
    stopped?.thread.join()
  }

  /// Comes back on the same port: ``stop()``, if need be, and ``start()``.
  ///
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public func restart() throws(OriginError) {
    stop()
    try start()
  }
}
