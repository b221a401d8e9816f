import NetSpool

@testable import NetSpoolCLI

/// A network that answers when the test opens the gate.
final class GateFetcher: Fetcher {
  /// Answers at once while true.
  var isOpen = true
  var isAheadOfCache = false
  var unstored = 0
  var answer: (FetchItem) -> FetchOutcome = { _ in .ok() }
  /// How many of those waiting count as sent; `cancelWaiting` leaves these alone.
  var sentMax = Int.max
  private(set) var started: [FetchItem] = []
  private(set) var startCount = 0
  var keepsHistory = true
  private var waiting: [(item: FetchItem, completion: @Sendable (FetchOutcome) -> Void)] = []

  func start(_ item: FetchItem, completion: @escaping @Sendable (FetchOutcome) -> Void) {
    startCount += 1
    if keepsHistory { started.append(item) }
    if isOpen { return completion(answer(item)) }
    waiting.append((item, completion))
  }

  /// Answers the oldest ones.
  func release(_ count: Int = .max) {
    let answered = waiting.prefix(count)
    waiting.removeFirst(answered.count)
    for entry in answered { entry.completion(answer(entry.item)) }
  }

  func cancelWaiting() { cancel(keeping: sentMax) }

  func cancelAll() { cancel(keeping: 0) }

  func close() -> IOFailure? { nil }

  private func cancel(keeping count: Int) {
    let cancelled = waiting.dropFirst(count)
    waiting = Array(waiting.prefix(count))
    for entry in cancelled { entry.completion(FetchOutcome(.cancelled)) }
  }
}

extension FetchOutcome {
  static func ok(_ bytes: Int64 = 10, _ source: NetworkResponse.Source = .network) -> FetchOutcome {
    var outcome = FetchOutcome(.done)
    (outcome.status, outcome.bytes, outcome.source) = (200, bytes, source)
    return outcome
  }

  static func status(_ status: Int) -> FetchOutcome {
    var outcome = FetchOutcome(.failed(Permanence(.status, status: status)))
    (outcome.status, outcome.error) = (status, "status")
    return outcome
  }

  static func local(_ errno: Int32) -> FetchOutcome {
    var outcome = FetchOutcome(.failed(.local(errno: errno)))
    outcome.error = "sinkFailed"
    return outcome
  }
}
