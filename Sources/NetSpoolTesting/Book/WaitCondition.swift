/// What a test waits for.
enum WaitCondition: Sendable {
  case requests(Int)
  case hits(String, Int)
  case untakenRequest
  case connections(Int)
  case openConnections(Int)
  case waitingAt(String, Int)

  func isMet(log: RequestLog, gates: GateBook) -> Bool {
    switch self {
    case .requests(let count): log.requestCount >= count
    case .hits(let path, let count): log.hits[path, default: 0] >= count
    case .untakenRequest: log.hasUntaken
    case .connections(let count): log.connectionCount >= count
    case .openConnections(let count): log.openConnections == count
    case .waitingAt(let gate, let count): gates.waiting[gate, default: 0] >= count
    }
  }
}

/// One who waits. `resume` is called once, with whether the condition was met.
struct Waiter: Sendable {
  let id: Int
  let condition: WaitCondition
  let resume: @Sendable (Bool) -> Void
}
