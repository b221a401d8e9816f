import Testing

@testable import NetSpool
@testable import TestSupport

/// The queue as one would write it without caring for speed.
private struct NaiveQueue {
  struct Origin {
    var limit: Int
    var isResolved: Bool
    var running = 0
    /// Per class, first to leave first.
    var lanes: [[Int]] = [[], [], [], []]
    var isFull: Bool { running >= (isResolved ? limit : min(1, limit)) }
    var waiting: Int { lanes.reduce(0) { $0 + $1.count } }
  }

  var origins: [UInt32: Origin] = [:]
  var maximumConcurrent = 12
  let maximumUnresolved = 3
  var isSuspended = false

  var count: Int { origins.values.reduce(0) { $0 + $1.waiting } }
  var running: Int { origins.values.reduce(0) { $0 + $1.running } }
  var unresolvedRunning: Int { origins.values.count { !$0.isResolved && $0.running > 0 } }

  func mayStart(_ id: UInt32) -> Bool {
    guard let origin = origins[id], !isSuspended, running < maximumConcurrent else { return false }
    return !origin.isFull && (origin.isResolved || unresolvedRunning < maximumUnresolved)
  }

  var mayStartAny: Bool { origins.contains { $0.value.waiting > 0 && mayStart($0.key) } }
}

/// Drives the queue and the naive one side by side.
private struct Comparison {
  var queue = AdmissionQueue<Int>(maximumConcurrent: 12, maximumUnresolved: 3)
  var model = NaiveQueue()
  var generator: SplitMix64
  var origins: [OriginID] = []
  /// Every ticket ever given for an element, by element; stale ones too.
  var tickets: [Ticket] = []
  var place: [Int: (origin: OriginID, lane: Int)] = [:]
  var left = 0

  mutating func step() {
    switch generator.next() % 100 {
    case 0..<28: enqueue()
    case 28..<38: remove()
    case 38..<44: reprioritise()
    case 44, 45: letGoFirst()
    case 46..<70: admit()
    case 70..<92: finish()
    case 92, 93: origins.count < 12 ? addOrigin() : clearOrigin()
    case 94: removeOrigin()
    case 95: resolve()
    case 96, 97: limit()
    case 98: model.maximumConcurrent = Int.random(in: 1...20, using: &generator)
    default: model.isSuspended = generator.chance(10)
    }
    queue.maximumConcurrent = model.maximumConcurrent
    queue.isSuspended = model.isSuspended
  }

  mutating func addOrigin() {
    let (limit, resolved) = (Int.random(in: 0...5, using: &generator), generator.chance(30))
    let origin = queue.addOrigin(limit: limit, resolved: resolved)
    #expect(model.origins[origin.rawValue] == nil)
    model.origins[origin.rawValue] = .init(limit: limit, isResolved: resolved)
    origins.append(origin)
  }

  mutating func removeOrigin() {
    guard let origin = origins.randomElement(using: &generator), let known = model.origins[origin.rawValue]
    else { return }
    let isEmpty = known.waiting == 0 && known.running == 0
    #expect(queue.removeOrigin(origin) == isEmpty)
    guard isEmpty else { return }
    model.origins[origin.rawValue] = nil
    origins.removeAll { $0 == origin }
  }

  /// Takes all work from an origin, so that it can be removed.
  mutating func clearOrigin() {
    guard let origin = origins.randomElement(using: &generator) else { return }
    for element in place.filter({ $0.value.origin == origin }).keys.sorted() { remove(element) }
    while queue.running(at: origin) > 0 { finish(origin) }
  }

  mutating func enqueue() {
    guard let origin = origins.randomElement(using: &generator),
      let priority = NetworkRequest.Priority.allCases.randomElement(using: &generator)
    else { return }
    let (element, lane, atFront) = (tickets.count, Int(priority.rawValue), generator.chance(10))
    let goesFirst = generator.chance(10)
    tickets.append(
      queue.enqueue(element, origin: origin, priority: priority, atFront: atFront, goesFirst: goesFirst))
    let end = atFront || goesFirst ? 0 : model.origins[origin.rawValue]?.lanes[lane].count ?? 0
    model.origins[origin.rawValue]?.lanes[lane].insert(element, at: end)
    place[element] = (origin, lane)
  }

  /// Mostly a recent element, so that stale and live tickets both occur.
  private mutating func pick() -> Int? {
    guard !tickets.isEmpty else { return nil }
    return Int.random(in: max(0, tickets.count - 60)..<tickets.count, using: &generator)
  }

  mutating func remove() {
    if let element = pick() { remove(element) }
  }

  mutating func remove(_ element: Int) {
    let known = place.removeValue(forKey: element)
    #expect(queue.remove(tickets[element]) == (known == nil ? nil : element))
    guard let known else { return }
    model.origins[known.origin.rawValue]?.lanes[known.lane].removeAll { $0 == element }
    left += 1
  }

  mutating func reprioritise() {
    guard let element = pick(),
      let priority = NetworkRequest.Priority.allCases.randomElement(using: &generator)
    else { return }
    let known = place[element]
    #expect(queue.reprioritise(tickets[element], to: priority) == (known != nil))
    guard let known, known.lane != Int(priority.rawValue) else { return }
    model.origins[known.origin.rawValue]?.lanes[known.lane].removeAll { $0 == element }
    model.origins[known.origin.rawValue]?.lanes[Int(priority.rawValue)].append(element)
    place[element] = (known.origin, Int(priority.rawValue))
  }

  mutating func letGoFirst() {
    guard let element = pick() else { return }
    queue.letGoFirst(tickets[element])
    guard let known = place[element] else { return }
    model.origins[known.origin.rawValue]?.lanes[known.lane].removeAll { $0 == element }
    model.origins[known.origin.rawValue]?.lanes[known.lane].insert(element, at: 0)
  }

  mutating func admit() {
    guard let next = queue.next() else {
      #expect(!model.mayStartAny)
      return
    }
    #expect(model.mayStart(next.origin.rawValue))
    let known = place.removeValue(forKey: next.element)
    #expect(known?.origin == next.origin)
    guard let known else { return }
    #expect(model.origins[next.origin.rawValue]?.lanes[known.lane].first == next.element)
    model.origins[next.origin.rawValue]?.lanes[known.lane].removeFirst()
    model.origins[next.origin.rawValue]?.running += 1
    left += 1
  }

  mutating func finish() {
    let busy = origins.filter { model.origins[$0.rawValue]?.running ?? 0 > 0 }
    if let origin = busy.randomElement(using: &generator) { finish(origin) }
  }

  mutating func finish(_ origin: OriginID) {
    queue.finished(origin)
    model.origins[origin.rawValue]?.running -= 1
  }

  mutating func resolve() {
    guard let origin = origins.randomElement(using: &generator) else { return }
    queue.markResolved(origin)
    model.origins[origin.rawValue]?.isResolved = true
  }

  mutating func limit() {
    guard let origin = origins.randomElement(using: &generator) else { return }
    let limit = Int.random(in: 0...6, using: &generator)
    queue.setLimit(limit, for: origin)
    model.origins[origin.rawValue]?.limit = limit
  }

  var countsAgree: Bool { queue.count == model.count && queue.running == model.running }

  var originCountsAgree: Bool {
    origins.allSatisfy {
      queue.waiting(at: $0) == model.origins[$0.rawValue]?.waiting
        && queue.running(at: $0) == model.origins[$0.rawValue]?.running
    }
  }

  var orderAgrees: Bool {
    var seen: [Int] = []
    for origin in origins.sorted(by: { $0.rawValue < $1.rawValue }) {
      for priority in NetworkRequest.Priority.allCases.reversed() {
        _ = queue.visit(at: origin, priority, from: nil, atMost: queue.count) { seen.append($0) }
      }
    }
    let expected = origins.sorted { $0.rawValue < $1.rawValue }.flatMap {
      (model.origins[$0.rawValue]?.lanes.reversed() ?? []).flatMap { $0 }
    }
    return seen == expected
  }

  /// Opens everything and lets all of it leave.
  mutating func drain() {
    queue.isSuspended = false
    queue.maximumConcurrent = 1_000
    for origin in origins {
      queue.setLimit(6, for: origin)
      while queue.running(at: origin) > 0 { queue.finished(origin) }
    }
    while let next = queue.next() {
      #expect(place.removeValue(forKey: next.element) != nil)
      queue.finished(next.origin)
      left += 1
    }
  }
}

@Suite struct AdmissionModelTests {
  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func `the queue behaves like a naive one`(_ seed: UInt64) {
    var comparison = Comparison(generator: SplitMix64(seed: seed))
    for _ in 0..<4 { comparison.addOrigin() }
    for step in 0..<12_000 {
      comparison.step()
      guard comparison.countsAgree else {
        Issue.record("counts differ: seed \(seed), step \(step)")
        return
      }
      guard step % 31 == 0 else { continue }
      #expect(comparison.originCountsAgree, "seed \(seed), step \(step)")
      #expect(comparison.orderAgrees, "seed \(seed), step \(step)")
    }
    comparison.drain()
    #expect(comparison.left == comparison.tickets.count)
    #expect(comparison.place.isEmpty)
    #expect(comparison.queue.count == 0 && comparison.queue.running == 0)
    #expect(comparison.queue.capacity <= 4_096)
  }
}
