import Glibc

/// A connection: reads requests, asks the state for answers, plays them. Lives on the origin's thread.
///
/// `advance` runs the phases until one of them must wait; what it waits for is in `events`, `wakeAt` and
/// `isParked`, from which the loop knows when to call it again.
final class OriginConnection {
  enum Phase {
    case handshake
    case head
    case body
    /// The request is whole, its path is held.
    case held
    case playing
    /// HTTP/2: each of its streams is a connection of its own.
    case multiplexed
    /// Our side is closed; what the client still sends is read and dropped.
    case lingering
    case closed
  }

  /// The step behind the script that is being played.
  enum Next {
    case handshake
    case request
    case body
    case close
  }

  /// Input that may pile up while an answer is being played. Beyond it the client is no longer read.
  private static let pipelinedBytesMax = 65_536

  let wire: any Wire
  let number: Int
  let state: OriginState
  var input = InputBuffer()
  var phase = Phase.handshake
  var exchange: Exchange?
  var player: ScriptPlayer?
  var next = Next.request
  var requestCount = 0
  /// The connection's own HTTP/2; nil for HTTP/1.1, and for a stream.
  private var http2: HTTP2Session?
  /// A stream of HTTP/2, which is counted with its connection.
  private let isStream: Bool
  /// The trailers of a body whose end came from HTTP/2.
  private(set) var bodyTrailers: [HeaderField]?
  private(set) var sawEnd = false
  private(set) var wakeAt: ContinuousClock.Instant?
  /// The time for which the loop has a timer, and the place among its connections. The loop's, not ours.
  var armedFor: ContinuousClock.Instant?
  var slot = 0
  private(set) var waitsToWrite = false
  private var isStalled = false
  private var gate: String?
  private var lingersUntil: ContinuousClock.Instant?

  /// - Parameter index: of a stream, which of the requests of its HTTP/2 connection it is.
  init(_ wire: any Wire, number: Int, state: OriginState, firstRequest index: Int? = nil) {
    self.wire = wire
    self.number = number
    self.state = state
    isStream = index != nil
    requestCount = index ?? 0
  }

  /// Waits for a gate or for everything to be released.
  var isParked: Bool { gate != nil || isStalled || http2?.isParked == true }

  /// The events to poll for.
  var events: Int16 {
    var events: Int32 = waitsToWrite ? POLLOUT : 0
    if wantsInput, !sawEnd { events |= POLLIN }
    return Int16(events)
  }

  private var wantsInput: Bool {
    guard phase == .playing || phase == .held else { return true }
    return !wire.needsHandshake && input.count < Self.pipelinedBytesMax
  }

  func didBecomeReadable(_ buffer: inout [UInt8]) {
    guard phase != .handshake, phase != .playing || !wire.needsHandshake else { return }
    switch wire.receive(into: &buffer) {
    case .bytes(let count):
      let bytes = buffer[..<count]
      if let http2 { http2.receive(bytes) } else if phase != .lingering { input.append(bytes) }
    case .wouldBlock: break
    case .end: sawEnd = true
    case .failed: abandon()
    }
  }

  func advance(_ now: ContinuousClock.Instant) {
    waitsToWrite = false
    wakeAt = nil
    while step(now) {}
  }

  /// Runs a phase; false when it must wait.
  private func step(_ now: ContinuousClock.Instant) -> Bool {
    switch phase {
    case .handshake: shakeHands()
    case .head: readHead()
    case .body: readBody()
    case .held: passGate()
    case .playing: play(now)
    case .multiplexed: multiplex(now)
    case .lingering: linger(now)
    case .closed: false
    }
  }

  private func shakeHands() -> Bool {
    switch wire.shakeHands() {
    case .done(speaksHTTP2: false): phase = .head
    case .done(speaksHTTP2: true): beginHTTP2()
    case .waitsToRead: return false
    case .waitsToWrite:
      waitsToWrite = true
      return false
    case .failed(let reason):
      state.changeLog { $0.reject("the TLS handshake failed: \(reason)") }
      abandon()
    }
    return true
  }

  /// The client has chosen it: by ALPN, or, without TLS, by what it says first (RFC 9113 section 3.4).
  func beginHTTP2(_ beginning: [UInt8] = []) {
    do {
      let http2 = try HTTP2Session(wire, number: number, state: state)
      http2.receive(beginning + input.unread)
      input.consume(input.count)
      self.http2 = http2
      phase = .multiplexed
    } catch {
      state.changeLog { $0.reject("HTTP/2, and there is no libnghttp2") }
      abandon()
    }
  }

  private func multiplex(_ now: ContinuousClock.Instant) -> Bool {
    guard let http2, !sawEnd else {
      abandon()
      return false
    }
    switch http2.advance(now) {
    case .goesOn:
      wakeAt = http2.wakeAt
      waitsToWrite = http2.waitsToWrite
      return false
    case .ended: beginLingering(now)
    case .failed: abandon()
    }
    return phase == .lingering
  }

  /// The body of this stream has come to its end.
  func endBody(trailers: [HeaderField]) { bodyTrailers = trailers }

  /// The stream is over on the client's side: in order, or because the client wants no answer any more.
  func didLoseClient() {
    sawEnd = true
    if phase == .body { _ = needMore(in: "a body") }
    abandon()
  }

  private func passGate() -> Bool {
    guard let exchange else { return false }
    guard state.pass(exchange.path) else { return park(at: exchange.path) }
    leaveGate()
    answer()
    return true
  }

  /// A client that has gone away while it was kept waiting is let go.
  private func park(at name: String) -> Bool {
    if gate != name {
      leaveGate()
      gate = name
      state.arrive(at: name)
    }
    if sawEnd { abandon() }
    return false
  }

  private func leaveGate() {
    guard let name = gate else { return }
    gate = nil
    state.leave(name)
  }

  private func play(_ now: ContinuousClock.Instant) -> Bool {
    isStalled = false
    guard let progress = player?.play(wire, state, now: state.clock?.now ?? now) else { return false }
    if case .waitingAt(let name) = progress { return park(at: name) }
    if case .until(let due) = progress, let clock = state.clock {
      return due <= clock.now || park(at: ManualClock.gate)
    }
    leaveGate()
    switch progress {
    case .finished: return didFinish(now)
    case .blocked, .yielded: waitsToWrite = true
    case .until(let due): if sawEnd { abandon() } else { wakeAt = due }
    case .stalled:
      isStalled = true
      if sawEnd { abandon() }
    case .reset: finish { $0.reset() }
    case .close: beginLingering(now)
    case .failed: abandon()
    case .waitingAt: break
    }
    return phase == .lingering
  }

  private func didFinish(_ now: ContinuousClock.Instant) -> Bool {
    player = nil
    switch next {
    case .handshake: phase = .handshake
    case .request:
      exchange = nil
      phase = .head
    case .body: phase = .body
    case .close: beginLingering(now)
    }
    return true
  }

  /// Closing with unread input would send RST, and RST destroys what the client has not read yet: so we end our
  /// side only, and wait for the client's end, or for a while.
  private func beginLingering(_ now: ContinuousClock.Instant) {
    http2?.abandon()
    http2 = nil
    wire.endSending()
    phase = .lingering
    lingersUntil = now + state.limits.lingerTime
  }

  private func linger(_ now: ContinuousClock.Instant) -> Bool {
    if let lingersUntil, now < lingersUntil, !sawEnd {
      wakeAt = lingersUntil
    } else {
      abandon()
    }
    return false
  }

  func abandon() { finish { $0.finish() } }

  /// The one place where the descriptor goes.
  private func finish(_ close: (any Wire) -> Void) {
    guard phase != .closed else { return }
    leaveGate()
    isStalled = false
    phase = .closed
    player = nil
    http2?.abandon()
    http2 = nil
    close(wire)
    if !isStream { state.changeLog { $0.openConnections -= 1 } }
  }
}
