/// What the loop knows of one origin: its place in the queue, its width, its idle transfers.
final class Origin {
  let pieces: URLPieces.Origin
  /// `scheme://host[:port]`
  let text: String
  let id: OriginID
  // Safe because the scheduler alone has origins, whose entries assert the loop thread, and these values call nobody back.
  @safe @exclusivity(unchecked) var sizing: OriginSizing
  @safe @exclusivity(unchecked) var idle = IdleTransfers()
  /// Of what the last answer that went to streams came by; nil: there was none yet.
  var speaksHTTP2: Bool?
  /// The number of the connections that requests share now.
  private(set) var connections = 0
  /// The width that the queue was told.
  var limit: Int
  /// Runs while the origin has asked for quiet.
  var hold: TimerTable.Key?
  /// When it had.
  var held = HeldTime()
  /// While it is held: before this nobody's total is over.
  var nextTotal: Microseconds = 0
  /// Among the pauses that are counted, and the operations that were seen to wait for its end.
  var pause: BudgetCounter.Wait?
  var waitingForPause = 0
  @safe @exclusivity(unchecked) var budget = RetryBudget()
  let name: OriginName
  let isSecure: Bool
  /// On this machine, where nobody reads along.
  let isLoopback: Bool
  let hasTrailingDot: Bool
  /// How its challenges are answered, by credential.
  var answers = AuthenticationAnswers()
  /// When a request to it was last started.
  var usedAt: Microseconds
  /// Operations of this loop that have not ended and are to go there.
  var users = 0
  /// How it is written in the URLs that led here.
  fileprivate var spellings: [String] = []

  init(_ pieces: URLPieces.Origin, id: OriginID, sizing: OriginSizing, limit: Int) {
    self.pieces = pieces
    text = pieces.text
    name = OriginName(pieces)
    isSecure = pieces.scheme == "https"
    isLoopback = pieces.isLoopback
    hasTrailingDot = pieces.host.hasSuffix(".")
    self.id = id
    self.sizing = sizing
    self.limit = limit
    usedAt = MonotonicClock.now
  }

  /// Leaves the connections with this number to those who are on them. Numbers come again, so that there are few of them: until
  /// then a connection that is dead has been closed by the last who was on it.
  func leave(_ choice: ConnectionChoice) {
    if choice == .shared(connections) { connections = (connections + 1) % Self.connectionsNumbers }
  }

  private static let connectionsNumbers = 4
}

/// Finds the origin of a URL; the authority of each spelling is judged by `URLParser` once.
struct OriginTable {
  private var byText: [String: Origin] = [:]
  private var spellings: [String: Origin] = [:]
  private var latest: (spelling: String, origin: Origin)?

  /// Where a URL leads: its origin, and its pieces when they had to be looked at.
  struct Found {
    let origin: Origin
    let canonical: ParsedURL?
  }

  mutating func find(_ url: String, make: (URLPieces.Origin) -> Origin) throws(NetworkError) -> Found {
    if let latest, PlainURL.goesOn(url, from: latest.spelling) {
      return Found(origin: latest.origin, canonical: nil)
    }
    let length = PlainURL.originLength(url)
    if let length, let origin = known(url, length) { return Found(origin: origin, canonical: nil) }
    let parsed = try URLParser.parse(url)
    let origin = origin(parsed.pieces.origin, make: make)
    guard let length, parsed.user == nil, parsed.password == nil else {
      return Found(origin: origin, canonical: parsed)
    }
    let spelling = String(url.utf8.prefix(length))!
    spellings[spelling] = origin
    origin.spellings.append(spelling)
    return Found(origin: origin, canonical: nil)
  }

  private mutating func known(_ url: String, _ length: Int) -> Origin? {
    let spelling = String(url.utf8.prefix(length))!
    guard let origin = spellings[spelling] else { return nil }
    latest = (spelling, origin)
    return origin
  }

  private mutating func origin(_ pieces: URLPieces.Origin, make: (URLPieces.Origin) -> Origin) -> Origin {
    let text = pieces.text
    if let origin = byText[text] { return origin }
    let origin = make(pieces)
    byText[text] = origin
    return origin
  }

  var all: some Collection<Origin> { byText.values }

  /// Forgets an origin.
  mutating func remove(_ origin: Origin) {
    byText[origin.text] = nil
    for spelling in origin.spellings { spellings[spelling] = nil }
    if latest?.origin === origin { latest = nil }
  }
}

/// Keeps the table of origins short: who asks a million servers for one page each needs none of them again.
extension Scheduler {
  /// Origins that are remembered though nothing is asked of them.
  static let originsKept = 1024
  /// This loop's part of them.
  private var originsKept: Int { Self.originsKept / driver.loops.count }

  /// Forgets the idle ones that have not been used for longest: their widths, their handles, their numbers. Not
  /// those that asked for quiet. Begun when the table has doubled, so that its cost is spread over those that
  /// made it long, and done in pieces; not at once: callbacks of libcurl may still name an origin before.
  func retireOrigins() {
    isRetiring = true
    var oldest: [Origin]?
    doInPieces { [unowned self] in
      var left = oldest ?? idleOrigins()
      oldest = nil  // so that the list is not copied
      let watched = watchedOrigins
      for origin in left.suffix(Turn.piece) where isIdle(origin, watched) {
        origins.remove(origin)
        seats.queue.removeOrigin(origin.id)
        originsKnown -= 1
      }
      left.removeLast(min(Turn.piece, left.count))
      oldest = left
      if !left.isEmpty { return true }
      originsMax = max(originsKept, originsKnown * 2)
      isRetiring = false
      return false
    }
  }

  /// What may go, the oldest last.
  private func idleOrigins() -> [Origin] {
    let watched = watchedOrigins
    let idle = origins.all.filter { isIdle($0, watched) }.sorted { $0.usedAt > $1.usedAt }
    return idle.suffix(max(0, origins.all.count - originsKept / 2))
  }

  private var watchedOrigins: Set<OriginID> { connectivity?.watchedOrigins ?? [] }

  private func isIdle(_ origin: Origin, _ watched: Set<OriginID>) -> Bool {
    origin.users == 0 && origin.hold == nil && !watched.contains(origin.id)
      && seats.queue.running(at: origin.id) + seats.queue.waiting(at: origin.id) == 0
  }
}
