/// Makes an answer when the request is known.
public typealias AnswerClosure = @Sendable (RecordedRequest) -> Answer

/// Which answer a request gets. In this order: the queue of its path, the route of its path, the longest
/// matching prefix, the queue for every path, the fallback.
struct RouteBook {
  enum Route: Sendable {
    case fixed(Answer)
    case made(AnswerClosure)
  }

  private struct Target: Hashable { let path: String, method: String? }

  private var routes: [Target: Route] = [:]
  /// Longest first.
  private var prefixes: [(prefix: String, route: Route)] = []
  private var pathQueues: [String: ArraySlice<Answer>] = [:]
  private var queue: ArraySlice<Answer> = []
  private var heads: [String: @Sendable (RecordedRequest) -> Answer?] = [:]
  var fallback = Route.fixed(.text("no answer is scripted for this path\n", status: 404))

  /// - Parameter method: nil: any.
  mutating func set(_ path: String, _ method: String?, _ route: Route) {
    routes[Target(path: path, method: method)] = route
  }

  mutating func set(prefix: String, _ route: Route) {
    prefixes.removeAll { $0.prefix == prefix }
    prefixes.append((prefix, route))
    prefixes.sort { $0.prefix.utf8.count > $1.prefix.utf8.count }
  }

  mutating func setHead(_ path: String, _ closure: (@Sendable (RecordedRequest) -> Answer?)?) {
    heads[path] = closure
  }

  mutating func enqueue(_ answers: [Answer], path: String?) {
    if let path { pathQueues[path, default: []] += answers } else { queue += answers }
  }

  /// Takes the answer of a whole request.
  mutating func take(_ path: String, _ method: String) -> Route {
    if let answer = pathQueues[path]?.popFirst() { return .fixed(answer) }
    if let route = route(path, method) { return route }
    if let answer = queue.popFirst() { return .fixed(answer) }
    return fallback
  }

  /// Takes an answer that does not wait for the body; nil when there is none for this path.
  mutating func takeEarly(_ path: String, _ method: String) -> Answer? {
    guard case .fixed(let answer) = peek(path, method), answer.isForHead else { return nil }
    _ = take(path, method)
    return answer
  }

  func headClosure(_ path: String) -> (@Sendable (RecordedRequest) -> Answer?)? {
    heads.isEmpty ? nil : heads[path]
  }

  /// Takes the first of the queue when it is meant for a connection and not for a request.
  mutating func takeForAccept() -> FaultAction? {
    guard let fault = queue.first?.faults.first(where: { $0.point == .accept }) else { return nil }
    _ = queue.popFirst()
    return fault.action
  }

  private func peek(_ path: String, _ method: String) -> Route {
    if let answer = pathQueues[path]?.first { return .fixed(answer) }
    return route(path, method) ?? queue.first.map(Route.fixed) ?? fallback
  }

  private func route(_ path: String, _ method: String) -> Route? {
    routes[Target(path: path, method: method)] ?? routes[Target(path: path, method: nil)]
      ?? prefixes.first { path.hasPrefix($0.prefix) }?.route
  }
}

extension Answer {
  /// The fault inside the request's body, if there is one.
  var requestBodyFault: (after: Int, action: FaultAction)? {
    for fault in faults {
      if case .requestBody(let bytes) = fault.point { return (bytes, fault.action) }
    }
    return nil
  }

  /// True when this must be known when only the head is there.
  var isForHead: Bool { isEarly || requestBodyFault != nil }
}

/// Gates by name, and who waits at them. A path is a gate that is open until it is held; every other gate is
/// closed until it is released.
struct GateBook {
  /// How many may still pass each gate: of an open one `.max`, which never gets fewer.
  private var permits: [String: Int] = [:]
  private(set) var waiting: [String: Int] = [:]
  /// Counts the times everything was released: a stall that began before ends.
  private(set) var releaseCount = 0

  mutating func hold(_ name: String) { permits[name] = 0 }

  mutating func release(_ name: String) { permits[name] = .max }

  mutating func release(_ name: String, count: Int) {
    if permits[name] != .max { permits[name, default: 0] += count }
  }

  mutating func releaseAll() {
    releaseCount += 1
    permits = permits.mapValues { _ in .max }
    for name in waiting.keys { permits[name] = .max }
  }

  func isHeld(_ path: String) -> Bool { permits[path, default: .max] < .max }

  /// Passes the gate, using up a permit if there is need of one.
  mutating func pass(_ name: String) -> Bool {
    let left = permits[name, default: 0]
    guard left > 0 else { return false }
    if left < .max { permits[name] = left - 1 }
    return true
  }

  mutating func arrive(_ name: String) { waiting[name, default: 0] += 1 }

  mutating func leave(_ name: String) {
    waiting[name, default: 0] -= 1
    if waiting[name] == 0 { waiting[name] = nil }
  }
}
