import Glibc

/// The proxy's reactor: one thread, non-blocking sockets, `poll`. What it polls for is written down anew in each
/// turn: a proxy stands before one client, not before thousands.
final class FaultLoop {
  private static let linksMax = 1_024
  /// The waker and the listener come first; link `n` has the two places from `firstLink + 2 * n` on.
  private static let firstLink = 2

  private let state: FaultState
  private var listener: Socket.Listener
  private let token: StopToken
  private var links: [FaultLink] = []
  private var watched: [pollfd] = []
  private var toxics: FaultBook
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// Takes the listener over and closes it in the end.
  init(state: FaultState, listener: Int32, token: StopToken) {
    self.state = state
    self.listener = Socket.Listener(listener)
    self.token = token
    toxics = state.toxics
  }

  func run() {
    while !token.isStopped { turn() }
    // The listener first: nobody who is thrown out now gets in again.
    Socket.finish(listener.fd)
    for link in links { link.finish(Socket.finish) }
    sweep()
  }

  private func turn() {
    watch()
    let soonest = ([listener.restsUntil] + links.map(\.wakeAt)).compactMap(\.self).min()
    guard Socket.wait(for: &watched, until: soonest) >= 0 else { return }
    let now = ContinuousClock.now
    if watched[0].revents != 0 { state.waker.drain() }
    for (place, link) in links.enumerated() {
      readReady(link, Self.firstLink + 2 * place, now)
      takeNewest()
      advance(link, now)
    }
    if watched[1].revents != 0 { acceptAll(now) }
    sweep()
  }

  /// After each look at a socket: what came to it came behind the changes that its sender has made before.
  private func takeNewest() {
    let newest = state.toxics
    guard newest.edition != toxics.edition else { return }
    toxics = newest
    for link in links { link.use(toxics, seed: state.seed) }
  }

  private func advance(_ link: FaultLink, _ now: ContinuousClock.Instant) {
    link.advance(now) { direction, count in state.count { $0.passed[direction, default: 0] += count } }
  }

  private func watch() {
    watched.removeAll(keepingCapacity: true)
    let events = listener.events(hasRoom: links.count < Self.linksMax)
    watched.append(pollfd(fd: state.waker.readEnd, events: Int16(POLLIN), revents: 0))
    watched.append(pollfd(fd: listener.fd, events: events, revents: 0))
    for link in links {
      for (fd, reads, writes) in link.interests {
        let events = Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))
        // Without an interest not even the end of it: poll would tell of that again and again.
        watched.append(pollfd(fd: events == 0 ? -1 : fd, events: events, revents: 0))
      }
    }
  }

  private func readReady(_ link: FaultLink, _ place: Int, _ now: ContinuousClock.Instant) {
    let readable = Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL)
    for (offset, direction) in FaultProxy.Direction.allCases.enumerated() {
      if watched[place + offset].revents & readable != 0 { link.didBecomeReadable(direction, &buffer, now) }
    }
  }

  private func acceptAll(_ now: ContinuousClock.Instant) {
    while links.count < Self.linksMax, let client = listener.accept(now) { didAccept(client, now) }
  }

  private func didAccept(_ client: Int32, _ now: ContinuousClock.Instant) {
    takeNewest()
    guard let origin = Socket.connecting(port: state.originPort) else { return Socket.reset(client) }
    let number = state.count { counts in
      counts.connections += 1
      counts.open += 1
      return counts.connections
    }
    let link = FaultLink(
      number: number, client: client, origin: origin, toxics: toxics, seed: state.seed, now: now)
    links.append(link)
    advance(link, now)
  }

  private func sweep() {
    let before = links.count
    links.removeAll(where: \.isClosed)
    if links.count < before { state.count { $0.open -= before - links.count } }
  }
}
