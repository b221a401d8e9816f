import Glibc

/// One connection: reads requests, asks the state for answers, plays them. Lives on the origin's thread.
///
/// `advance` runs the phases until one of them must wait; what it waits for is in `events`, `wakeAt` and
/// `isParked`, from which the loop knows when to call it again.
final class OriginConnection {
  enum Phase {
    case head
    case body
    /// The request is whole, its path is held.
    case held
    case playing
    /// Our side is closed; what the client still sends is read and dropped.
    case lingering
    case closed
  }

  /// What comes behind the script that is being played.
  enum Next {
    case request
    case body
    case close
  }

  /// Input that may pile up while an answer is being played. Beyond it the client is no longer read.
  private static let pipelinedBytesMax = 65_536

  let fd: Int32
  let number: Int
  let state: OriginState
  var input = InputBuffer()
  var phase = Phase.head
  var exchange: Exchange?
  var player: ScriptPlayer?
  var next = Next.request
  var requestCount = 0
  private(set) var sawEnd = false
  private(set) var wakeAt: ContinuousClock.Instant?
  /// The time for which the loop has a timer, and the place among its connections. The loop's, not ours.
  var armedFor: ContinuousClock.Instant?
  var slot = 0
  private var waitsToWrite = false
  private var isStalled = false
  private var gate: String?
  private var lingersUntil: ContinuousClock.Instant?

  init(fd: Int32, number: Int, state: OriginState) {
    self.fd = fd
    self.number = number
    self.state = state
  }

  /// Waits for a gate or for everything to be released.
  var isParked: Bool { gate != nil || isStalled }

  /// What to poll for.
  var events: Int16 {
    var events: Int32 = waitsToWrite ? POLLOUT : 0
    let wantsInput = phase != .playing && phase != .held || input.count < Self.pipelinedBytesMax
    if wantsInput, !sawEnd { events |= POLLIN }
    return Int16(events)
  }

  func didBecomeReadable(_ buffer: inout [UInt8]) {
    switch Socket.receive(fd, into: &buffer) {
    case .bytes(let count): if phase != .lingering { input.append(buffer[..<count]) }
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

  /// One phase; false when it must wait.
  private func step(_ now: ContinuousClock.Instant) -> Bool {
    switch phase {
    case .head: readHead()
    case .body: readBody()
    case .held: passGate()
    case .playing: play(now)
    case .lingering: linger(now)
    case .closed: false
    }
  }

  // MARK: Gates

  private func passGate() -> Bool {
    guard let exchange else { return false }
    guard state.pass(exchange.path) else { return park(at: exchange.path) }
    leaveGate()
    answer()
    return true
  }

  /// A client that has gone away while it was kept waiting is let go.
  private func park(at name: String) -> Bool {
    if gate == nil {
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

  // MARK: Playing

  private func play(_ now: ContinuousClock.Instant) -> Bool {
    isStalled = false
    guard let progress = player?.play(fd, state, now: now) else { return false }
    if case .waitingAt(let name) = progress { return park(at: name) }
    leaveGate()
    switch progress {
    case .finished: return didFinish(now)
    case .blocked, .yielded: waitsToWrite = true
    case .until(let due): wakeAt = due
    case .stalled:
      isStalled = true
      if sawEnd { abandon() }
    case .reset: finish(Socket.reset)
    case .close: beginLingering(now)
    case .failed: abandon()
    case .waitingAt: break
    }
    return phase == .lingering
  }

  private func didFinish(_ now: ContinuousClock.Instant) -> Bool {
    player = nil
    switch next {
    case .request:
      exchange = nil
      phase = .head
    case .body: phase = .body
    case .close: beginLingering(now)
    }
    return true
  }

  // MARK: Closing

  /// Closing with unread input would send RST, and RST destroys what the client has not read yet: so we end our
  /// side only, and wait for the client's end, or for a while.
  private func beginLingering(_ now: ContinuousClock.Instant) {
    Socket.endSending(fd)
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

  func abandon() { finish(Socket.finish) }

  /// The one place where the descriptor goes.
  private func finish(_ close: (Int32) -> Void) {
    guard phase != .closed else { return }
    leaveGate()
    isStalled = false
    phase = .closed
    player = nil
    close(fd)
    state.changeLog { $0.openConnections -= 1 }
  }
}
