/// What the loop knows of one origin: its place in the queue, its width, its idle transfers.
final class Origin {
  /// `scheme://host[:port]`
  let text: String
  let id: OriginID
  // Safe because the scheduler alone has origins, whose entries assert the loop thread, and these values call nobody back.
  @safe @exclusivity(unchecked) var sizing: OriginSizing
  @safe @exclusivity(unchecked) var idle = IdleTransfers()
  /// The width that the queue was told.
  var limit: Int
  /// Runs while the origin has asked for quiet.
  var hold: TimerTable.Key?
  /// When it had.
  var held = HeldTime()
  /// Among the pauses that are counted, and the operations that were seen to wait for its end.
  var pause: BudgetCounter.Wait?
  var waitingForPause = 0
  @safe @exclusivity(unchecked) var budget = RetryBudget()
  @safe @exclusivity(unchecked) var name: OriginName
  let isSecure: Bool
  /// On this machine, where nobody reads along.
  let isLoopback: Bool
  let hasTrailingDot: Bool
  /// How its challenges are answered, by credential.
  var answers = AuthenticationAnswers()
  /// When a request to it was last started.
  var usedAt: Microseconds

  init(_ pieces: URLPieces.Origin, id: OriginID, sizing: OriginSizing, limit: Int) {
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
    spellings[String(url.utf8.prefix(length))!] = origin
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

  /// Forgets some origins. Costs the length of the table.
  mutating func remove(_ ids: Set<OriginID>) {
    byText = byText.filter { !ids.contains($0.value.id) }
    spellings = spellings.filter { !ids.contains($0.value.id) }
    latest = nil
  }
}

/// Keeps the table of origins short: who asks a million servers for one page each needs none of them again.
extension Scheduler {
  /// Origins that are remembered though nothing is asked of them.
  static let originsKept = 1024
  /// This loop's part of them.
  private var originsKept: Int { Self.originsKept / driver.loops.count }

  /// Forgets the idle ones that have not been used for longest: their widths, their handles, their numbers. Not
  /// those that asked for quiet. Called when the table has doubled, so that its cost is spread over those that
  /// made it long. From `later` only: callbacks of libcurl may still name an origin before.
  func retireOrigins() {
    let used = originsInUse()
    let idle = origins.all.filter { origin in
      queue.running(at: origin.id) + queue.waiting(at: origin.id) == 0 && origin.hold == nil
        && !used.contains(origin.id)
    }
    let oldest = idle.sorted { $0.usedAt < $1.usedAt }.prefix(
      max(0, origins.all.count - originsKept / 2))
    origins.remove(Set(oldest.map(\.id)))
    for origin in oldest { queue.removeOrigin(origin.id) }
    originsKnown = origins.all.count
    originsMax = max(originsKept, originsKnown * 2)
  }

  /// Origins that are watched, and those of operations that have not ended.
  private func originsInUse() -> Set<OriginID> {
    var used = connectivity?.watchedOrigins ?? []
    operations.forEach { if let origin = $0.loop.origin { used.insert(origin.id) } }
    return used
  }
}
