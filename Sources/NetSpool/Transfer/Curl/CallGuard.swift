internal import CNetSpoolShims
internal import Synchronization

/// Ends connections that keep libcurl busy with nothing, on a thread of its own.
///
/// libcurl 7.88 stays inside one call for as long as an HTTP/2 connection brings frames that belong to no body: PRIORITY,
/// empty DATA, unknown ones. It makes no callback meanwhile, so no code on the loop's thread could end it, and every other
/// transfer would wait (8.x reads a buffer's worth and goes on later). A connection from which much is read in one
/// call, without a word to us, is disconnected; libcurl then finds it lost.
///
/// The thread sleeps unless a loop with TLS connections has been at work within the last second.
final class CallGuard: Sendable {
  static let shared = CallGuard()

  /// How often the calls are looked at, and from when on one is long.
  private typealias Watchfulness = (period: Microseconds, callMax: Microseconds)

  private struct State {
    var watched: [ObjectIdentifier: GuardedCalls] = [:]
    var isStarted = false
  }

  /// While nothing is wrong: a connection that keeps a call busy is cut off after 16 ms at most.
  private static let calm: Watchfulness = (4_000, 8_000)
  /// After one was cut off: where one floods, others do, and each would cost the loop as much.
  private static let alarmed: Watchfulness = (250, 500)
  private static let alarmTime: Microseconds = 1_000_000
  private static let idleRoundsMax = 250

  private let state = Mutex(State())
  private let wakeUp = SystemSemaphore()
  let isAsleep = Atomic(false)

  func watch(_ calls: GuardedCalls) {
    state.withLock { state in
      state.watched[ObjectIdentifier(calls)] = calls
      guard !state.isStarted,
        let thread = try? SystemThread.start(name: "netspool-guard", { [self] in run() })
      else { return }
      thread.detach()
      state.isStarted = true
    }
  }

  func forget(_ calls: GuardedCalls) {
    state.withLock { _ = $0.watched.removeValue(forKey: ObjectIdentifier(calls)) }
  }

  /// A loop is at work again. Cheap, for every call.
  fileprivate func wake() {
    if isAsleep.exchange(false, ordering: .acquiringAndReleasing) { wakeUp.signal() }
  }

  private func run() {
    var idleRounds = 0
    var alarmEnd: Microseconds = 0
    while true {
      let watchfulness = MonotonicClock.now < alarmEnd ? Self.alarmed : Self.calm
      _ = wakeUp.wait(until: MonotonicClock.now + watchfulness.period)
      let watched = state.withLock { Array($0.watched.values) }
      let now = MonotonicClock.now
      // Each is looked at, whatever the others do.
      let seen = watched.map { $0.look(now, callMax: watchfulness.callMax) }
      if seen.contains(.flood) { alarmEnd = now + Self.alarmTime }
      idleRounds = seen.allSatisfy { $0 == .idle } ? idleRounds + 1 : 0
      guard idleRounds >= Self.idleRoundsMax else { continue }
      isAsleep.store(true, ordering: .sequentiallyConsistent)
      wakeUp.wait()
      idleRounds = 0
    }
  }
}

/// The calls of one multi handle into libcurl, as the guard sees them.
final class GuardedCalls: Sendable {
  private struct Connections {
    var open: Set<Int32> = []
    /// The sockets that were disconnected and are still open.
    var cut: [Int32: Cut] = [:]
    /// By the port at our end: transfers of HTTP/2 that are paused, whose bodies libcurl goes on reading.
    var paused: [Int: Int] = [:]
    var suspicion: Suspicion?
  }

  /// The port at our end of a connection that was disconnected, and when.
  typealias Cut = (port: Int, time: Microseconds)

  /// What the guard has found.
  fileprivate enum Sight { case idle, active, flood }

  /// A call that takes long, and how much had been read when that was seen.
  private struct Suspicion {
    let call: Int64
    let progress: Int
    var read: [Int32: Int64]
  }

  /// So much read between two looks, without a callback, is a flood.
  private static let readBytesMin: Int64 = 64 << 10
  /// libcurl lets the origin send so much of each body, and keeps what comes for one that is paused.
  private static let pausedBytesMax: Int64 = 33 << 20

  /// When the call began that is under way; 0: none is.
  private let began = Atomic<Int64>(0)
  /// Counts what libcurl has told. Written by the loop's thread alone.
  private let progress = Atomic(0)
  /// Calls so far, to see whether there are any.
  private let calls = Atomic(0)
  private let callsSeen = Atomic(0)
  private let connections = Mutex(Connections())

  // MARK: The loop's thread

  @inline(__always)
  func enter() {
    began.store(MonotonicClock.now, ordering: .releasing)
    calls.store(calls.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    if CallGuard.shared.isAsleep.load(ordering: .relaxed) { CallGuard.shared.wake() }
  }

  @inline(__always)
  func leave() { began.store(0, ordering: .releasing) }

  /// libcurl called us.
  @inline(__always)
  func didProgress() { progress.store(progress.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

  /// A transfer of HTTP/2 on the connection with this port is paused, or is so no longer.
  func didPause(localPort: Int, by count: Int) {
    connections.withLock { connections in
      let left = connections.paused[localPort, default: 0] + count
      connections.paused[localPort] = left > 0 ? left : nil
    }
  }

  func opened(_ descriptor: Int32) { connections.withLock { _ = $0.open.insert(descriptor) } }

  /// A connection was cut off lately that is still open: libcurl keeps one of HTTP/2 whose transfers have failed until it
  /// wants to use it again.
  func hasCut(localPort: Int, since time: Microseconds) -> Bool {
    connections.withLock { $0.cut.values.contains { $0.port == localPort && $0.time >= time } }
  }

  /// Must come before the descriptor is closed. What was cut off.
  func willClose(_ descriptor: Int32) -> Cut? {
    connections.withLock { connections in
      connections.open.remove(descriptor)
      return connections.cut.removeValue(forKey: descriptor)
    }
  }

  // MARK: The guard's thread

  /// `.active`: there were calls since the last look. `.flood`: a connection was cut off.
  ///
  /// A call is looked at twice before anything is cut off: only what comes between two looks, and nothing told, is proof.
  fileprivate func look(_ now: Microseconds, callMax: Microseconds) -> Sight {
    let call = began.load(ordering: .acquiring)
    let count = calls.load(ordering: .relaxed)
    let wasActive = callsSeen.exchange(count, ordering: .relaxed) != count || call != 0
    guard call != 0, now - call >= callMax else { return wasActive ? .active : .idle }
    let progress = progress.load(ordering: .relaxed)
    return connections.withLock { connections in
      if let suspicion = connections.suspicion, suspicion.call == call, suspicion.progress == progress,
        !cutOff(suspicion, &connections)
      {
        // What was opened since is looked at from now on.
        connections.suspicion?.read.merge(Self.bytesRead(connections.open)) { first, _ in first }
        return .active
      }
      let isFlood = connections.suspicion.map { $0.call == call && $0.progress == progress } ?? false
      connections.suspicion = Suspicion(
        call: call, progress: progress, read: Self.bytesRead(connections.open))
      return isFlood ? .flood : .active
    }
  }

  /// True when some were. While the lock is held none of the descriptors is closed.
  private func cutOff(_ suspicion: Suspicion, _ connections: inout Connections) -> Bool {
    var hasCut = false
    for (descriptor, before) in suspicion.read where connections.open.contains(descriptor) {
      let read = cnetspool_bytes_read(descriptor, false) - before
      guard read >= Self.readBytesMin else { continue }
      let port = StraySocket.localPort(of: descriptor) ?? 0
      guard read >= Self.readBytesMin + Int64(connections.paused[port] ?? 0) * Self.pausedBytesMax else {
        continue
      }
      guard began.load(ordering: .acquiring) == suspicion.call else { break }
      connections.cut[descriptor] = (port, MonotonicClock.now)
      connections.open.remove(descriptor)
      StraySocket.disconnect(descriptor)
      hasCut = true
    }
    return hasCut
  }

  private static func bytesRead(_ open: Set<Int32>) -> [Int32: Int64] {
    Dictionary(uniqueKeysWithValues: open.map { ($0, cnetspool_bytes_read($0, true)) })
  }
}
