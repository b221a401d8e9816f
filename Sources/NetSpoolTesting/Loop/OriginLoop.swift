import Glibc
import Synchronization

/// Ends a loop from another thread.
final class StopToken: Sendable {
  private let isSet = Atomic(false)
  var isStopped: Bool { isSet.load(ordering: .acquiring) }
  func stop() { isSet.store(true, ordering: .releasing) }
}

/// The origin's reactor: one thread, non-blocking sockets, `poll`.
///
/// `poll` and not `epoll`: Swift's Glibc module has no epoll, and with a thousand connections the walk over
/// them costs less than the work of those that are ready.
final class OriginLoop {
  /// The waker and the listener come first in `watched`; the connection of slot `n` is at `n + firstSlot`.
  private static let firstSlot = 2

  private let state: OriginState
  private let token: StopToken
  private var listener: Socket.Listener
  private let tls: TLSContext?
  private var watched: [pollfd]
  private var connections: [OriginConnection] = []
  private var closedCount = 0
  private var timers = TimerHeap()
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// Takes the listener over and closes it in the end.
  init(state: OriginState, listener: Int32, tls: TLSContext?, token: StopToken) {
    self.state = state
    self.tls = tls
    self.listener = Socket.Listener(listener)
    self.token = token
    watched = [
      pollfd(fd: state.waker.readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
    ]
  }

  func run() {
    while !token.isStopped { turn() }
    // The listener first: nobody who is thrown out now gets in again.
    Socket.finish(listener.fd)
    for connection in connections { connection.abandon() }
  }

  private func turn() {
    watched[1].events = listener.events(hasRoom: connections.count < state.limits.connectionsMax)
    let soonest = [timers.soonest, listener.restsUntil].compactMap(\.self).min()
    let ready = Socket.wait(for: &watched, until: soonest)
    guard ready >= 0 else { return }
    let now = ContinuousClock.now
    if watched[0].revents != 0 { didWake(now) }
    if ready > 0 { serveReady(Int(ready), now) }
    fireTimers(now)
    if watched[1].revents != 0 { acceptAll(now) }
    if closedCount > 0 { sweep() }
  }

  /// All that are due now, and none that they set: a pace without pauses would keep the others out.
  private func fireTimers(_ now: ContinuousClock.Instant) {
    var due: [TimerHeap.Entry] = []
    while let entry = timers.takeDue(now) { due.append(entry) }
    for entry in due {
      if entry.connection.armedFor == entry.due { entry.connection.armedFor = nil }
      // Others are left over from a wait that ended otherwise.
      if entry.connection.wakeAt == entry.due { advance(entry.connection, now) }
    }
  }

  /// Stops looking when all that poll counted are served.
  private func serveReady(_ ready: Int, _ now: ContinuousClock.Instant) {
    var left = ready - watched[..<Self.firstSlot].count { $0.revents != 0 }
    var slot = 0
    while left > 0, slot < connections.count {
      if watched[slot + Self.firstSlot].revents != 0 {
        left -= 1
        didBecomeReady(slot, now)
      }
      slot += 1
    }
  }

  private func didWake(_ now: ContinuousClock.Instant) {
    state.waker.drain()
    for connection in connections where connection.isParked { advance(connection, now) }
  }

  private func didBecomeReady(_ slot: Int, _ now: ContinuousClock.Instant) {
    let events = Int32(watched[slot + Self.firstSlot].revents)
    let connection = connections[slot]
    // Closed earlier in this turn: its descriptor may be somebody else's by now.
    guard connection.phase != .closed else { return }
    if events & (POLLERR | POLLNVAL) != 0 || (events & POLLHUP != 0 && connection.sawEnd) {
      // Its last word may say why it went.
      if connection.phase == .handshake { connection.advance(now) }
      connection.abandon()
    } else if events & (POLLIN | POLLHUP) != 0 {
      connection.didBecomeReadable(&buffer)
    }
    connection.advance(now)
    settle(connection)
  }

  private func advance(_ connection: OriginConnection, _ now: ContinuousClock.Instant) {
    guard connection.phase != .closed else { return }
    connection.advance(now)
    settle(connection)
  }

  /// Notes what the connection waits for. Called once after it has closed, and never again: its slot is gone then.
  private func settle(_ connection: OriginConnection) {
    let place = connection.slot + Self.firstSlot
    watched[place].events = connection.events
    if connection.phase == .closed {
      // poll passes over negative descriptors; the slot goes when the turn is over.
      watched[place].fd = -1
      closedCount += 1
    } else if let due = connection.wakeAt, due != connection.armedFor {
      connection.armedFor = due
      timers.add(connection, due: due)
    }
  }
}

// Connections come and go.
extension OriginLoop {
  private func acceptAll(_ now: ContinuousClock.Instant) {
    while connections.count < state.limits.connectionsMax, let fd = listener.accept(now) {
      didAccept(fd, now)
    }
  }

  private func didAccept(_ fd: Int32, _ now: ContinuousClock.Instant) {
    let wire = tls?.wire(fd) ?? SocketWire(fd)
    let connection = OriginConnection(wire, number: state.didAccept(), state: state)
    connection.slot = connections.count
    connections.append(connection)
    watched.append(pollfd(fd: fd, events: Int16(POLLIN), revents: 0))
    if let fault = state.acceptFault() { connection.strikeAtAccept(fault) }
    advance(connection, now)
  }

  private func sweep() {
    closedCount = 0
    var slot = 0
    while slot < connections.count {
      if connections[slot].phase == .closed { remove(slot) } else { slot += 1 }
    }
  }

  /// The last connection moves into the free slot.
  private func remove(_ slot: Int) {
    connections.swapAt(slot, connections.count - 1)
    connections.removeLast()
    watched.swapAt(slot + Self.firstSlot, watched.count - 1)
    watched.removeLast()
    if slot < connections.count { connections[slot].slot = slot }
  }
}
