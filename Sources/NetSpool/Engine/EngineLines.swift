/// The places in the queue of what each engine has waiting on a loop, in the order in which it came: the next of an engine is to be
/// found where another has a hundred thousand before it. Loop thread.
struct EngineLines {
  private final class Line {
    // Safe because the loop thread alone has it, as it has `Seats`, and these are values that call nobody back.
    @safe @exclusivity(unchecked) private var tickets: [Ticket] = []
    /// All before it have left.
    private var head = 0
    /// At so many those that have left are forgotten.
    private var countMax = Line.kept
    /// The number of the turn when its engine began to have something under way.
    var lastTurn = 0

    /// For so many memory is kept.
    private static let kept = 1024
    /// More are not looked at for a better one at once.
    private static let looksMax = 16

    func add(_ ticket: Ticket, _ isWaiting: (Ticket) -> Bool) {
      if tickets.count >= countMax {
        tickets = tickets[head...].filter(isWaiting)
        (head, countMax) = (0, max(Line.kept, 2 * tickets.count))
      }
      tickets.append(ticket)
    }

    var isEmpty: Bool { tickets.isEmpty }

    func clear() {
      tickets.removeAll(keepingCapacity: countMax == Line.kept)
      (head, countMax) = (0, Line.kept)
    }

    /// The first; nil where the engine has something under way.
    func first(in queue: borrowing AdmissionQueue<NetworkOperation>) -> Ticket? {
      while head < tickets.count, !queue.isWaiting(tickets[head]) { head += 1 }
      guard head < tickets.count, let first = queue.element(tickets[head]), !first.engine.seats.isRunning
      else { return nil }
      let end = min(head + Line.looksMax, tickets.count)
      let best = tickets[head..<end].reduce(nil as (Ticket, NetworkRequest.Priority)?) {
        guard let priority = queue.readyClass($1), $0.map({ $0.1 < priority }) ?? true else { return $0 }
        return ($1, priority)
      }
      if best == nil { lookAtOthers(from: end, in: queue) }
      return best?.0
    }

    /// The origins of those before have no free slot now: they come behind the others.
    private func lookAtOthers(from end: Int, in queue: borrowing AdmissionQueue<NetworkOperation>) {
      guard end < tickets.count else { return }
      let passed = tickets[head..<end].filter { queue.isWaiting($0) }
      head = end
      tickets += passed
      // As much is forgotten as is kept, so that it costs little for each.
      if head >= Line.kept, head > tickets.count / 2 {
        tickets.removeFirst(head)
        head = 0
      }
    }
  }

  private var lines: [UInt64: Line] = [:]
  /// Most operations are of the same engine as the one before.
  private var last: (engine: UInt64, line: Line)?
  /// At so many those that are empty are forgotten.
  private var countMax = 64
  private var turns = 0

  /// - Parameter isWaiting: a closure, as a queue that is lent from an object is copied for that.
  mutating func add(_ ticket: Ticket, of engine: NetworkEngine, _ isWaiting: (Ticket) -> Bool) {
    line(of: engine.id).add(ticket, isWaiting)
  }

  /// Nothing of the engine waits here any more.
  mutating func clear(of engine: NetworkEngine) { line(of: engine.id).clear() }

  private mutating func line(of engine: UInt64) -> Line {
    if let last, last.engine == engine { return last.line }
    let line = lines[engine] ?? make(for: engine)
    last = (engine, line)
    return line
  }

  private mutating func make(for engine: UInt64) -> Line {
    if lines.count >= countMax {
      lines = lines.filter { !$0.value.isEmpty }
      countMax = max(64, 2 * lines.count)
      last = nil
    }
    let line = Line()
    lines[engine] = line
    return line
  }

  /// An engine has something under way again.
  mutating func didStart(_ engine: NetworkEngine) {
    turns += 1
    line(of: engine.id).lastTurn = turns
  }

  /// For each engine that has nothing under way, the most urgent that may start, of its first some; last the one that has had
  /// no turn for longest.
  func firstOfStarved(in queue: borrowing AdmissionQueue<NetworkOperation>) -> [Ticket] {
    var found: [(lastTurn: Int, ticket: Ticket)] = []
    for line in lines.values {
      if let ticket = line.first(in: queue) { found.append((line.lastTurn, ticket)) }
    }
    return found.sorted { $0.lastTurn > $1.lastTurn }.map(\.ticket)
  }
}
