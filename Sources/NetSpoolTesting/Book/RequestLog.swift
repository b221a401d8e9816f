/// The requests that came in, up to the limits, and the counts, which have none.
struct RequestLog {
  private let limits: OriginLimits
  /// Recorded requests in order; the first of them has the number `dropped`.
  private var kept: [RecordedRequest] = []
  private var dropped = 0
  private var keptBytes = 0
  private var taken = 0
  private(set) var hits: [String: Int] = [:]
  private(set) var rejected: [String] = []
  private(set) var rejectedCount = 0
  var connectionCount = 0
  var openConnections = 0

  init(limits: OriginLimits) { self.limits = limits }

  var requestCount: Int { dropped + kept.count }
  var requests: [RecordedRequest] { kept.suffix(limits.keptRequestsMax) }

  /// Answers its number.
  mutating func record(_ request: RecordedRequest) -> Int {
    var request = request
    request.number = requestCount
    if hits[request.path] != nil || hits.count < limits.countedPathsMax {
      hits[request.path, default: 0] += 1
    }
    kept.append(request)
    keptBytes += request.body.count
    // Dropped in batches: the array moves once for every thousand requests, not for each.
    let surplus = kept.count - limits.keptRequestsMax
    if surplus > 1_024 { drop(surplus) }
    if keptBytes > limits.keptBytesMax { drop(kept.count - fitting()) }
    return request.number
  }

  private mutating func drop(_ count: Int) {
    keptBytes -= kept.prefix(count).reduce(0) { $0 + $1.body.count }
    kept.removeFirst(count)
    dropped += count
  }

  /// The number of latest requests that fit into half of the room; at least one.
  private func fitting() -> Int {
    var bytes = 0
    let first = kept.lastIndex { request in
      bytes += request.body.count
      return bytes > limits.keptBytesMax / 2
    }
    return max(1, kept.count - (first.map { $0 + 1 } ?? 0))
  }

  mutating func reject(_ reason: String) {
    rejectedCount += 1
    if rejected.count < 100 { rejected.append(reason) }
  }

  /// The next request that has not been taken; dropped ones are passed over.
  mutating func take() -> RecordedRequest? {
    taken = max(taken, dropped)
    guard taken < requestCount else { return nil }
    defer { taken += 1 }
    return kept[taken - dropped]
  }

  var hasUntaken: Bool { max(taken, dropped) < requestCount }

  /// Forgets requests and counts; connections that are open stay counted.
  mutating func forget() {
    let open = openConnections
    self = RequestLog(limits: limits)
    openConnections = open
  }
}

/// The condition that a test waits for.
enum WaitCondition: Sendable {
  case requests(Int)
  case hits(String, Int)
  case untakenRequest
  case openConnections(Int)
  case waitingAt(String, Int)

  func isMet(log: RequestLog, gates: GateBook) -> Bool {
    switch self {
    case .requests(let count): log.requestCount >= count
    case .hits(let path, let count): log.hits[path, default: 0] >= count
    case .untakenRequest: log.hasUntaken
    case .openConnections(let count): log.openConnections == count
    case .waitingAt(let gate, let count): gates.waiting[gate, default: 0] >= count
    }
  }
}

/// A waiting call. `resume` is called once, with whether the condition was met.
struct Waiter: Sendable {
  let id: Int
  let condition: WaitCondition
  let resume: @Sendable (Bool) -> Void
}
