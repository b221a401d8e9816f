/// The requests of one lane in the order they were accepted, and which of them may be sent.
struct FrozenLane: Sendable {
  struct Member: Sendable, Hashable {
    var isUnordered: Bool
    var isInFlight = false
    /// Not before this moment of the monotonic clock.
    var due: Microseconds
    /// Nothing could be sent the last time: a change of the network ends the wait.
    var waitsForNetwork = false
    var hasLeft = false
  }

  enum Verdict: Equatable {
    case launch(FrozenID)
    case sleep(until: Microseconds)
    /// Nothing to do before something happens to it.
    case idle
  }

  /// How many of an unordered lane may be in flight. 4.
  static let unorderedMax = 4
  /// How far down an unordered lane one that is due is looked for.
  private static let searchMax = 64

  /// In the order of their ids, which is how one is found. Those before `head` have left, and others may have.
  private var line: [(id: FrozenID, member: Member)] = []
  private var head = 0
  /// Members that have not left.
  private var count = 0
  private(set) var inFlight = 0
  private var haltedBy: Set<FrozenID> = []
  var breaker = LaneBreaker()
  /// After the network came back the lanes begin one after the other.
  private var opensAt: Microseconds = .min
  /// It stands in the scheduler's ring.
  var isListed = false
  /// When the scheduler's heap wakes it next.
  var wakesAt: Microseconds = .max

  var isHalted: Bool { !haltedBy.isEmpty }
  var isEmpty: Bool { count == 0 && haltedBy.isEmpty }
}

// MARK: Members

extension FrozenLane {
  mutating func add(_ id: FrozenID, _ member: Member) {
    count += 1
    guard let last = line.last, last.id >= id else { return line.append((id, member)) }
    // One that was revived goes back to its place.
    let place = lowerBound(id)
    if line[place].id == id { line[place].member = member } else { line.insert((id, member), at: place) }
  }

  /// Where the first one stands that is not before `id`.
  private func lowerBound(_ id: FrozenID) -> Int {
    var (low, high) = (head, line.count)
    while low < high {
      let middle = (low + high) / 2
      if line[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func place(of id: FrozenID) -> Int? {
    let place = lowerBound(id)
    return place < line.count && line[place].id == id && !line[place].member.hasLeft ? place : nil
  }

  func isInFlight(_ id: FrozenID) -> Bool { place(of: id).map { line[$0].member.isInFlight } ?? false }

  /// False when it stands in the scheduler's ring already.
  mutating func list() -> Bool {
    defer { isListed = true }
    return !isListed
  }

  mutating func launch(_ id: FrozenID) {
    guard let place = place(of: id) else { return }
    line[place].member.isInFlight = true
    inFlight += 1
  }

  mutating func wait(_ id: FrozenID, until due: Microseconds, forNetwork: Bool) {
    guard let place = place(of: id) else { return }
    land(place)
    line[place].member.due = due
    line[place].member.waitsForNetwork = forNetwork
  }

  mutating func remove(_ id: FrozenID) {
    guard let place = place(of: id) else { return }
    land(place)
    line[place].member.hasLeft = true
    count -= 1
    while head < line.count, line[head].member.hasLeft { head += 1 }
    guard head * 2 >= line.count else { return }
    line.removeFirst(head)
    head = 0
  }

  private mutating func land(_ place: Int) {
    guard line[place].member.isInFlight else { return }
    line[place].member.isInFlight = false
    inFlight -= 1
  }

  mutating func halt(by id: FrozenID) { haltedBy.insert(id) }

  mutating func free(from id: FrozenID) { haltedBy.remove(id) }

  /// The network came back.
  mutating func open(at moment: Microseconds) {
    opensAt = moment
    breaker.wake()
    for place in head..<line.count where line[place].member.waitsForNetwork {
      line[place].member.due = moment
    }
  }
}

// MARK: Deciding

extension FrozenLane {
  func verdict(at now: Microseconds) -> Verdict {
    guard !isHalted, let first = firstMember else { return .idle }
    let gate = max(opensAt, breaker.sleepsUntil)
    let widest = first.isUnordered && !breaker.isOpen ? Self.unorderedMax : 1
    guard inFlight < widest else { return .idle }
    if gate > now { return .sleep(until: gate) }
    return first.isUnordered ? search(now) : decide(line[head].id, first, now)
  }

  private var firstMember: Member? { head < line.count ? line[head].member : nil }

  private func decide(_ id: FrozenID, _ member: Member, _ now: Microseconds) -> Verdict {
    member.due <= now ? .launch(id) : .sleep(until: member.due)
  }

  /// The first that is due, but not past one that wants order.
  private func search(_ now: Microseconds) -> Verdict {
    var earliest = Microseconds.max
    var seen = 0
    for (id, member) in line[head...] where !member.hasLeft {
      guard member.isUnordered, seen < Self.searchMax else { break }
      seen += 1
      if member.isInFlight { continue }
      if member.due <= now { return .launch(id) }
      earliest = min(earliest, member.due)
    }
    return earliest == .max ? .idle : .sleep(until: earliest)
  }
}
