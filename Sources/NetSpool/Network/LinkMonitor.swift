/// Watches the kernel's links, addresses and routes, and says when what counts has changed.
///
/// It costs nothing while nothing changes. Where netlink is not permitted it watches nothing and everything
/// counts as routed. Loop thread; must be closed by its owner.
final class LinkMonitor {
  /// Between two readings of all the tables, in milliseconds: each link that goes asks for one.
  static let readingPauseMilliseconds: UInt64 = 250
  /// Datagrams taken before others on the loop get their turn.
  private static let datagramsPerTurn = 64

  private let loop: EventLoop
  private let onChange: (LinkState) -> Void
  private let clock: () -> Microseconds
  private var pump: NetlinkPump?
  private var watch: SocketWatch?
  private var readingTimer: LoopTimer?
  private var settlingTimer: LoopTimer?
  private var tracker = LinkTracker()
  private var damper = LinkDamper()

  /// What counts: a lost link at once, one that came back when it has held for a while.
  private(set) var settled = LinkState.assumed
  /// What the kernel says now.
  var current: LinkState { tracker.state ?? .assumed }

  /// Looks at once, and then watches.
  /// - Parameter onChange: what counts is another now; called on the loop thread, in the middle of its turn.
  init(
    on loop: EventLoop, clock: @escaping () -> Microseconds = { MonotonicClock.now },
    _ onChange: @escaping (LinkState) -> Void
  ) {
    loop.assertOnLoop()
    self.loop = loop
    self.clock = clock
    self.onChange = onChange
    open()
    settled = current
    damper.observe(current, now: clock())
  }

  private func open() {
    guard let pump = NetlinkPump(watching: true) else { return tracker.turnBlind() }
    watch = SocketWatch(on: loop, descriptor: pump.descriptor) { [unowned self] _ in
      readable()
      return 0
    }
    guard watch != nil else { return tracker.turnBlind() }
    self.pump = pump
    readingTimer = LoopTimer(on: loop) { [unowned self] in readTables() }
    settlingTimer = LoopTimer(on: loop) { [unowned self] in settle() }
    watch?.want(.readable)
    begin()
    take()
  }

  /// A socket that fails leaves the tracker blind.
  private func begin() { do throws(SystemError) { try pump?.begin(&tracker) } catch { tracker.turnBlind() } }

  /// True when there may be more.
  private func step() -> Bool {
    do throws(SystemError) {
      return try pump?.step(&tracker) ?? .nothing != .nothing
    } catch {
      tracker.turnBlind()
      return false
    }
  }

  // MARK: Events

  private func readable() {
    take()
    watch?.want(.readable)  // lost messages come as an error, after which nothing is watched
    loop.markDirty()
    tellIfChanged()
  }

  /// True when nothing is left to take.
  @discardableResult
  private func take() -> Bool {
    var left = Self.datagramsPerTurn
    while left > 0, step() { left -= 1 }
    if tracker.wantsReading, !tracker.isReading, readingTimer?.isActive == false {
      readingTimer?.start(milliseconds: Self.readingPauseMilliseconds)
    }
    return left > 0
  }

  private func readTables() {
    guard !tracker.isReading else { return }
    // A kernel that has lost messages loses more, and does not say so again, until all that it has kept was taken.
    if take() { begin() }
    readable()
  }

  private func settle() {
    damper.check(now: clock())
    loop.markDirty()
    publish()
  }

  private func tellIfChanged() {
    guard let state = tracker.state else { return }
    damper.observe(state, now: clock())
    publish()
  }

  private func publish() {
    if let until = damper.deadline {
      settlingTimer?.start(milliseconds: UInt64(max(0, until - clock()) / 1000) + 1)
    } else {
      settlingTimer?.stop()
    }
    guard let state = damper.settled, state != settled else { return }
    settled = state
    onChange(state)
  }

  // MARK: End

  func close() {
    watch?.close()  // before its descriptor
    readingTimer?.close()
    settlingTimer?.close()
    (watch, readingTimer, settlingTimer, pump) = (nil, nil, nil, nil)
  }
}

/// A single look at the kernel's tables, without watching them.
enum LinkReading {
  /// Datagrams taken at most; each holds dozens of entries.
  private static let datagramsMax = 4096

  /// Any thread; takes some 100 microseconds, longer on a router with very many routes. Nil when the kernel does
  /// not tell: a sandbox may forbid it.
  static func now() -> LinkState? {
    guard let pump = NetlinkPump(watching: false) else { return nil }
    var tracker = LinkTracker()
    var left = datagramsMax
    do throws(SystemError) {
      try pump.begin(&tracker)
      while tracker.isReading {
        left -= 1
        switch try pump.step(&tracker) {
        case .bytes where left > 0: break
        case .bytes, .nothing: return nil
        case .overrun: try pump.begin(&tracker)
        }
      }
    } catch { return nil }
    let state = tracker.state
    return state == .assumed ? nil : state
  }
}

/// Carries datagrams of the kernel into a tracker, and its questions to the kernel.
private final class NetlinkPump {
  private let socket: NetlinkSocket
  /// The kernel fills up to 32 KiB at once when it reads its tables out.
  private var buffer = [UInt8](repeating: 0, count: 32 << 10)

  init?(watching: Bool) {
    guard let socket = try? NetlinkSocket(watching: watching) else { return nil }
    self.socket = socket
  }

  var descriptor: Int32 { socket.rawValue }

  func begin(_ tracker: inout LinkTracker) throws(SystemError) { try ask(tracker.read()) }

  private func ask(_ question: LinkTracker.Question) throws(SystemError) {
    try socket.ask(type: question.kind.rawValue, sequence: question.sequence)
  }

  /// Takes one datagram, if there is one.
  func step(_ tracker: inout LinkTracker) throws(SystemError) -> NetlinkSocket.Receipt {
    let receipt = try socket.receive(into: &buffer)
    switch receipt {
    case .nothing: break
    case .overrun: tracker.overran()
    case .bytes(let count):
      var questions: [LinkTracker.Question] = []
      NetlinkReader.read(buffer.rawBytes.extracting(0..<count)) { message in
        if let question = tracker.take(message) { questions.append(question) }
      }
      for question in questions { try ask(question) }
    }
    return receipt
  }
}
