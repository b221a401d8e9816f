internal import CNetSpoolShims
internal import Synchronization

/// Ends connections that keep libcurl busy with nothing, on a thread of its own.
///
/// libcurl 7.88 stays inside one call for as long as an HTTP/2 connection brings frames that belong to no body: PRIORITY,
/// empty DATA, unknown ones. It calls nobody meanwhile, so nobody on the loop's thread could end it, and every other
/// transfer would wait (8.x reads a buffer's worth and goes on later). A connection from which much is read in one
/// call, without a word to us, is disconnected; libcurl then finds it lost.
///
/// The thread sleeps unless a loop with TLS connections has been at work within the last second.
final class CallGuard: Sendable {
  static let shared = CallGuard()

  private struct State {
    var watched: [ObjectIdentifier: GuardedCalls] = [:]
    var isStarted = false
  }

  private static let period: Microseconds = 8_000
  /// In a call in which one was cut off: others may have come with it.
  private static let floodPeriod: Microseconds = 500
  private static let idleRoundsMax = 125

  private let state = Mutex(State())
  private let wakeUp = SystemSemaphore()
  fileprivate let isAsleep = Atomic(false)

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
    var period = Self.period
    while true {
      _ = wakeUp.wait(until: MonotonicClock.now + period)
      let watched = state.withLock { Array($0.watched.values) }
      let now = MonotonicClock.now
      // Each is looked at, whatever the others do.
      let seen = watched.map { $0.look(now) }
      period = seen.contains(.flood) ? Self.floodPeriod : Self.period
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
    /// Those that were disconnected and are still open.
    var cut: [Int32: Cut] = [:]
    var suspicion: Suspicion?
  }

  /// The port at our end of a connection that was disconnected, and when.
  struct Cut {
    let port: Int
    let time: Microseconds
  }

  /// What the guard has found.
  fileprivate enum Sight { case idle, active, flood }

  /// A call that takes long, and how much had been read when that was seen.
  private struct Suspicion {
    let call: Int64
    let progress: Int
    var read: [Int32: Int64]
    /// In this call one was cut off before.
    let hasFlood: Bool
  }

  /// A call that takes longer is looked at; twice, so that others wait for 40 ms at most.
  private static let callMax: Microseconds = 16_000
  /// So much read between two looks is more than a pause of ours can leave unread.
  private static let readBytesMin: Int64 = 64 << 10

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

  /// `.active`: there were calls since the last look. `.flood`: a connection was cut off in the call that is under way.
  fileprivate func look(_ now: Microseconds) -> Sight {
    let call = began.load(ordering: .acquiring)
    let count = calls.load(ordering: .relaxed)
    let wasActive = callsSeen.exchange(count, ordering: .relaxed) != count || call != 0
    guard call != 0, now - call >= Self.callMax else { return wasActive ? .active : .idle }
    let progress = progress.load(ordering: .relaxed)
    return connections.withLock { connections in
      var hasFlood = false
      if let suspicion = connections.suspicion, suspicion.call == call {
        hasFlood = suspicion.hasFlood
        if suspicion.progress == progress {
          guard cutOff(suspicion, &connections) else {
            // What was opened since is looked at from now on.
            connections.suspicion?.read.merge(Self.bytesRead(connections.open)) { first, _ in first }
            return hasFlood ? .flood : .active
          }
          hasFlood = true
        }
      }
      connections.suspicion = Suspicion(
        call: call, progress: progress, read: Self.bytesRead(connections.open), hasFlood: hasFlood)
      return hasFlood ? .flood : .active
    }
  }

  /// True when some were. While the lock is held none of the descriptors is closed.
  private func cutOff(_ suspicion: Suspicion, _ connections: inout Connections) -> Bool {
    var hasCut = false
    for (descriptor, before) in suspicion.read where connections.open.contains(descriptor) {
      guard cnetspool_bytes_read(descriptor) - before >= Self.readBytesMin else { continue }
      guard began.load(ordering: .acquiring) == suspicion.call else { break }
      let port = StraySocket.localPort(of: descriptor) ?? 0
      connections.cut[descriptor] = Cut(port: port, time: MonotonicClock.now)
      connections.open.remove(descriptor)
      StraySocket.disconnect(descriptor)
      hasCut = true
    }
    return hasCut
  }

  private static func bytesRead(_ open: Set<Int32>) -> [Int32: Int64] {
    Dictionary(uniqueKeysWithValues: open.map { ($0, cnetspool_bytes_read($0)) })
  }
}
