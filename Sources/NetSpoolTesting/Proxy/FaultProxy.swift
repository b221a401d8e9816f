import Synchronization

/// A bad network in your test process: a TCP proxy, on 127.0.0.1 and a port of its own, before a server on this
/// machine. It passes bytes both ways and does to them what its toxics say.
/// ```swift
/// let origin = try ScriptedOrigin()
/// let proxy = try FaultProxy(to: origin.port)
/// proxy.set(.latency(.milliseconds(20), jitter: .milliseconds(10)), .limitData(bytes: 1_000), on: .downstream)
/// // ... send requests to proxy.url("/hello") ...
/// proxy.clear()
/// ```
/// It knows nothing of HTTP or TLS, so a client sees exactly the fault and nothing else. What is random comes from
/// its seed and the connection's number: the same seed does the same to the same connections.
///
/// Every member may be used from any thread; toxics may be changed while connections are open, and hold for them
/// at once.
public final class FaultProxy: Sendable {
  /// Which way bytes go.
  public enum Direction: Sendable, Hashable, CaseIterable {
    /// From the client to the server.
    case upstream
    /// From the server to the client.
    case downstream
  }

  private let state: FaultState
  private let home: LoopbackPort

  /// The TCP port, the same for the whole life of the proxy.
  public var port: Int { home.number }
  /// The source of chance.
  public var seed: UInt64 { state.seed }

  /// A proxy that is already passing on what comes, as it comes. Its port is free to choose for the system.
  ///
  /// - Parameters:
  ///   - port: the server's TCP port on 127.0.0.1. While no program listens there, connections are reset.
  ///   - seed: print it with a failure, and give it here to see the same again. Default 1.
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public init(to port: Int, seed: UInt64 = 1) throws(OriginError) {
    state = FaultState(originPort: UInt16(port), seed: seed, waker: try Waker())
    home = try LoopbackPort(waker: state.waker)
    try start()
  }

  deinit { stop() }

  /// `http://127.0.0.1:<port>` and this path, which may have a query.
  public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

  /// Replaces the toxics of one direction; without any, its bytes go through as they come.
  public func set(_ toxics: Toxic..., on direction: Direction) { set(toxics, on: direction) }

  /// Replaces the toxics of one direction; without any, its bytes go through as they come.
  public func set(_ toxics: [Toxic], on direction: Direction) {
    state.changeToxics { $0.set(toxics, on: direction) }
  }

  /// Takes all toxics away.
  public func clear() {
    state.changeToxics { book in
      for direction in Direction.allCases { book.set([], on: direction) }
    }
  }

  /// The toxics of one direction.
  public func toxics(on direction: Direction) -> [Toxic] { state.toxics.toxics(on: direction) }

  /// True when it is up.
  public var isRunning: Bool { home.isUp }

  /// Comes up; does nothing when it is.
  ///
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public func start() throws(OriginError) {
    // The thread holds the state, not the proxy: so the last reference can go while it runs.
    try home.start { [state] listener, token in
      FaultLoop(state: state, listener: listener, token: token).run()
    }
  }

  /// Goes down: closes the port and every connection and waits until that is done. From then on connections are
  /// refused. Does nothing when it is down already.
  public func stop() { home.stop() }

  /// The number of connections that were accepted.
  public var connectionCount: Int { state.count { $0.connections } }

  /// The number of connections that are open.
  public var openConnections: Int { state.count { $0.open } }

  /// The number of bytes that went through this direction.
  public func bytesPassed(_ direction: Direction) -> Int { state.count { $0.passed[direction, default: 0] } }
}

/// Which toxics are on, since when.
struct FaultBook: Sendable {
  private struct Page: Sendable {
    var toxics: [Toxic] = []
    var since = ContinuousClock.now
  }

  private var pages: [FaultProxy.Direction: Page] = [:]
  /// Goes up with every change.
  private(set) var edition = 0

  mutating func set(_ toxics: [Toxic], on direction: FaultProxy.Direction) {
    pages[direction] = Page(toxics: toxics)
    edition += 1
  }

  func toxics(on direction: FaultProxy.Direction) -> [Toxic] { pages[direction]?.toxics ?? [] }

  /// The toxics that hit a connection. The dice are thrown anew from the same seed: the same toxics hit the
  /// same connections whenever they are set.
  func mix(_ direction: FaultProxy.Direction, connection: Int, seed: UInt64) -> ToxicMix {
    let page = pages[direction] ?? Page()
    var dice = SeededDice(seed: seed &+ direction.seed, stream: UInt64(connection) | 1 << 63)
    return ToxicMix(page.toxics, since: page.since, dice: &dice)
  }
}

extension FaultProxy.Direction {
  /// Keeps the dice of the two directions apart.
  var seed: UInt64 { self == .upstream ? 1 : 2 }
}

/// The state that a proxy's threads share: its toxics and its counts.
final class FaultState: Sendable {
  struct Counts: Sendable {
    var connections = 0
    var open = 0
    var passed: [FaultProxy.Direction: Int] = [:]
  }

  let originPort: UInt16
  let seed: UInt64
  let waker: Waker
  private let book = Mutex(FaultBook())
  private let counts = Mutex(Counts())

  init(originPort: UInt16, seed: UInt64, waker: Waker) {
    self.originPort = originPort
    self.seed = seed
    self.waker = waker
  }

  var toxics: FaultBook { book.withLock { $0 } }

  func changeToxics(_ body: (inout FaultBook) -> Void) {
    book.withLock { body(&$0) }
    waker.wake()
  }

  func count<T>(_ body: (inout Counts) -> T) -> T { counts.withLock { body(&$0) } }
}
