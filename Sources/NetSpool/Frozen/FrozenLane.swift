/// The requests of one lane in the order they were accepted, and which of them may be sent.
struct FrozenLane: Sendable {
  struct Member: Sendable, Hashable {
    var isUnordered: Bool
    var isInFlight = false
    /// Not before this moment of the monotonic clock.
    var due: Microseconds
    /// Nothing could be sent the last time: a change of the network ends the wait.
    var waitsForNetwork = false
  }

  enum Verdict: Equatable {
    case launch(FrozenID)
    case sleep(until: Microseconds)
    /// Nothing to do before something happens to it.
    case idle
  }

  /// The number of an unordered lane's that may be in flight. 4.
  static let unorderedMax = 4
  /// How far down an unordered lane one that is due is looked for.
  private static let searchMax = 64

  private var members = FrozenTable<Member>()
  private(set) var inFlight = 0
  /// Their outcomes are being written.
  private var ending: Set<FrozenID> = []
  private var haltedBy: Set<FrozenID> = []
  var breaker = LaneBreaker()
  /// The moment before which this lane does not begin: after the network came back they begin one after the other.
  private var opensAt: Microseconds = .min
  /// True if the lane stands in the scheduler's ring.
  var isListed = false
  /// When the scheduler's heap wakes it next.
  var wakesAt: Microseconds = .max

  var isHalted: Bool { !haltedBy.isEmpty }
  var isEmpty: Bool { members.isEmpty && ending.isEmpty && haltedBy.isEmpty }
}

// MARK: Members

extension FrozenLane {
  mutating func add(_ id: FrozenID, _ member: Member) { members[id] = member }

  func isInFlight(_ id: FrozenID) -> Bool { members[id]?.isInFlight ?? false }

  mutating func launch(_ id: FrozenID) {
    members[id]?.isInFlight = true
    inFlight += 1
  }

  mutating func wait(_ id: FrozenID, until due: Microseconds, forNetwork: Bool) {
    land(id)
    members[id]?.due = due
    members[id]?.waitsForNetwork = forNetwork
  }

  /// Lets a request go that waits for the network.
  mutating func release(_ id: FrozenID, at now: Microseconds) {
    guard members[id]?.waitsForNetwork == true, members[id]?.isInFlight == false else { return }
    members[id]?.due = now
    members[id]?.waitsForNetwork = false
  }

  mutating func releaseHeld(at now: Microseconds) {
    for (id, member) in members.inOrder where member.due == .max { release(id, at: now) }
  }

  /// Has its outcome, which is not on the disk yet.
  mutating func end(_ id: FrozenID) {
    remove(id)
    ending.insert(id)
    breaker.didSucceed()
  }

  mutating func remove(_ id: FrozenID) {
    land(id)
    members[id] = nil
    ending.remove(id)
  }

  /// An outcome before it is not on the disk yet, and order is wanted.
  func isAhead(_ id: FrozenID) -> Bool { !ending.isEmpty && members[id]?.isUnordered == false }

  private mutating func land(_ id: FrozenID) {
    guard members[id]?.isInFlight == true else { return }
    members[id]?.isInFlight = false
    inFlight -= 1
  }

  mutating func halt(by id: FrozenID) { haltedBy.insert(id) }

  mutating func free(from id: FrozenID) { haltedBy.remove(id) }

  /// The network came back.
  mutating func open(at moment: Microseconds) {
    opensAt = moment
    breaker.wake()
    for (id, member) in members.inOrder where member.waitsForNetwork { members[id]?.due = moment }
  }
}

// MARK: Deciding

extension FrozenLane {
  /// - Parameter runsAhead: the next may be recorded together with the outcome before it.
  func verdict(at now: Microseconds, runsAhead: Bool) -> Verdict {
    guard !isHalted, let (id, first) = members.first, runsAhead || !isAhead(id) else { return .idle }
    let gate = max(opensAt, breaker.sleepsUntil)
    let widest = first.isUnordered && !breaker.isOpen ? Self.unorderedMax : 1
    guard inFlight < widest else { return .idle }
    if gate > now { return .sleep(until: gate) }
    if first.isUnordered { return search(now) }
    return first.due <= now ? .launch(id) : .sleep(until: first.due)
  }

  /// The first that is due, but not past one that wants order.
  private func search(_ now: Microseconds) -> Verdict {
    var earliest = Microseconds.max
    var seen = 0
    for (id, member) in members.inOrder {
      guard member.isUnordered, seen < Self.searchMax else { break }
      seen += 1
      if member.isInFlight { continue }
      if member.due <= now { return .launch(id) }
      earliest = min(earliest, member.due)
    }
    return earliest == .max ? .idle : .sleep(until: earliest)
  }
}

/// A lane's name as it stands in the store: the first 16 bytes of its SHA-256.
struct LaneKey: Hashable, Sendable {
  let first: UInt64
  let second: UInt64

  init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  init(_ name: String) {
    var digest = SHA256()
    digest.update(Array(name.utf8).rawBytes)
    (first, second) = digest.firstWords
  }

  /// Takes the bytes as they are: they are evenly spread already.
  func hash(into hasher: inout Hasher) { hasher.combine(first) }
}

/// Keeps a lane from hammering an origin that fails: after so many failures in a row it sleeps, and then sends
/// one request to see.
struct LaneBreaker: Sendable, Hashable {
  /// 5.
  static let failuresMax: UInt32 = 5

  private(set) var failures: UInt32 = 0
  /// The lane sends nothing before this.
  private(set) var sleepsUntil: Microseconds = .min

  var isOpen: Bool { failures >= Self.failuresMax }

  mutating func didSucceed() { self = LaneBreaker() }

  mutating func didFail(at now: Microseconds, policy: FrozenPolicy, random: Double) {
    failures += 1
    guard isOpen else { return }
    sleepsUntil = now + policy.backoff(afterFailures: failures, random: random)
  }

  /// The network changed: what failed before says little.
  mutating func wake() { sleepsUntil = .min }
}
