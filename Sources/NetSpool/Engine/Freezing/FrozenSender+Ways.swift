internal import Synchronization

/// Whether there is use in sending: the queue of the engine that would send looks at the network. It is asked once for
/// each way before anything is written, so that a week offline costs no writes, and again when an attempt did not get through.
extension FrozenSender {
  /// From an engine to an origin.
  struct Way: Hashable {
    let engine: UInt64
    let origin: Substring

    init(_ engine: NetworkEngine, _ url: String) {
      self.engine = engine.id
      let scheme = url.firstRange(of: "://")?.upperBound ?? url.startIndex
      origin = url[..<(url[scheme...].firstIndex { "/?#".contains($0) } ?? url.endIndex)]
    }
  }

  struct Outlook {
    enum State { case asked, open, closed }

    /// Tells this question from earlier ones.
    let number: UInt64
    let port: LoopPort
    var state = State.asked
    /// Requests that stand still, with their lanes, until there is an answer.
    var held: Set<FrozenID> = []
    /// Requests that were tried and wait for their time, which comes early when the way opens.
    var tried: Set<FrozenID> = []
  }

  private static let lastNumber = Atomic<UInt64>(0)
  /// Beyond so many, those that are open are forgotten.
  private static let waysMax = 1_000

  /// True if a request may go now; if not, it is woken when it may.
  func isOpen(_ engine: NetworkEngine, _ id: FrozenID, _ url: String) -> Bool {
    let way = Way(engine, url)
    switch ways[way]?.state {
    case .open: return true
    case nil: ask(way, engine, url)
    case .asked, .closed: break
    }
    ways[way]?.held.insert(id)
    return false
  }

  /// An attempt did not get through.
  func didNotGetThrough(_ id: FrozenID, _ engine: NetworkEngine, _ url: String, _ failure: NetworkError) {
    let way = Way(engine, url)
    switch ways[way]?.state {
    case .open, nil: ask(way, engine, url, after: failure)
    case .asked, .closed: break
    }
    ways[way]?.tried.insert(id)
  }

  private func ask(_ way: Way, _ engine: NetworkEngine, _ url: String, after failure: NetworkError? = nil) {
    if ways.count >= Self.waysMax { ways = ways.filter { $0.value.state != .open } }
    let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    let port = engine.driver.port(for: url, of: engine)
    ways[way] = Outlook(number: number, port: port)
    let freezer = freezer
    let isAsked = port.perform(of: engine.id) { core in
      core.connectivity.lookAhead(to: url, for: engine, number: number, after: failure) { isOpen in
        freezer.dispatch { $0.didLook(way, number, isOpen) }
      }
    }
    // Its queue has ended: other engines may know another way.
    if !isAsked { ways[way] = nil }
  }

  private func didLook(_ way: Way, _ number: UInt64, _ isOpen: Bool) {
    guard let outlook = ways[way], outlook.number == number else { return }
    ways[way]?.state = isOpen ? .open : .closed
    guard isOpen else { return }
    ways[way]?.held = []
    ways[way]?.tried = []
    if outlook.state == .closed {
      // Many may have waited for it: lane by lane.
      for id in outlook.held.union(outlook.tried) { spool.wake(id) }
    } else {
      // A single failure may say little about the origin: then the wait that was drawn holds.
      for id in outlook.held { spool.release(id) }
    }
  }

  /// The request has come to its end: where it was the last that waited, no look is needed any more.
  func forgetWays(of id: FrozenID) {
    for (way, outlook) in ways where outlook.held.contains(id) || outlook.tried.contains(id) {
      ways[way]?.held.remove(id)
      ways[way]?.tried.remove(id)
      guard outlook.held.union(outlook.tried) == [id] else { continue }
      callOff(outlook)
      ways[way] = nil
    }
  }

  private func callOff(_ outlook: Outlook) {
    let number = outlook.number
    outlook.port.perform { core in core.connectivity.callOffLook(number) }
  }

  /// Nothing is known of them any more, and no queue looks for us.
  func callOffWays(where matches: (Way) -> Bool = { _ in true }) {
    for (way, outlook) in ways where matches(way) {
      if outlook.state != .open { callOff(outlook) }
      ways[way] = nil
    }
  }
}
