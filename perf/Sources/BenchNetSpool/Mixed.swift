import BenchKit
import NetSpool
import Synchronization

/// Requests leave on time, in rounds, to origins that are well and to origins that are not, each with an engine of its own. What
/// counts is how long those of the healthy take, from the time at which they should leave.
func measureMixed(_ options: Options) throws(NetworkError) {
  NetworkQueue.shared.sizing = .adaptive
  let (healthy, sick) = try makeGuests(options)
  let round = healthy.indices.flatMap { Array(repeating: $0, count: options.healthy[$0].share) }
  let length = round.count + sick.count
  let (ended, failed) = (Counter(), Counter())
  let total = options.warmup + options.requests
  let begin = Usage.now()
  let pace = Pace(rate: options.rate)
  pace.run(total) { index in
    let counts = index >= options.warmup
    // Spread over the round, so that none comes in one piece.
    let place = index * 7 % length
    if place < round.count {
      healthy[round[place]].send(index, at: pace.time(index), counts: counts, ended, failed)
    } else if !options.withoutSick {
      sick[place - round.count].send(index, at: pace.time(index), counts: false, ended, nil)
    }
  }
  _ = NetworkQueue.shared.drainAndWait(deadline: .seconds(30))
  var report = Report(client: "netspool", options: options)
  report.add(Usage.now() - begin, requests: ended.value)
  for (number, guest) in healthy.enumerated() {
    report.add(percentilesOf: guest.latencies.withLock { $0 }, "origin\(number + 1)")
  }
  report.add(latencies: healthy.flatMap { $0.latencies.withLock { $0 } })
  report.add("longest_turn_us", Double(NetworkQueue.shared.budgets.longestTurn / .microseconds(1)))
  report.add("rss_max_bytes", Memory.peak())
  report.add("errors", failed.value)
  report.print()
}

private func makeGuests(_ options: Options) throws(NetworkError) -> (healthy: [Guest], sick: [Guest]) {
  var (healthy, sick): ([Guest], [Guest]) = ([], [])
  for (prefix, _) in options.healthy { healthy.append(Guest(try guestEngine(), prefix, options)) }
  for prefix in options.sick { sick.append(Guest(try guestEngine(), prefix, options)) }
  return (healthy, sick)
}

private func guestEngine() throws(NetworkError) -> NetworkEngine {
  var configuration = NetworkEngine.Configuration()
  configuration.timeouts.connect = .seconds(1)
  configuration.timeouts.headers = .seconds(1)
  return try NetworkEngine(configuration: configuration)
}

/// One origin, and who asks it.
private final class Guest: Sendable {
  /// Nanoseconds of those that count.
  let latencies = Mutex<[UInt32]>([])
  private let engine: NetworkEngine
  private let options: Options

  init(_ engine: NetworkEngine, _ prefix: String, _ options: Options) {
    self.engine = engine
    var own = options
    (own.urlPrefix, own.unique) = (prefix, true)
    self.options = own
  }

  func send(_ index: Int, at time: UInt64, counts: Bool, _ ended: Counter, _ failed: Counter?) {
    let end: @Sendable (Bool) -> Void = { [self] ok in
      if counts { latencies.withLock { $0.append(UInt32(clamping: Clock.monotonic() - time)) } }
      if !ok { failed?.add() }
      ended.add()
    }
    engine.enqueue(
      engine.operation(url: options.url(index))
        .onCompletion { end($0.body.count == self.options.bodyBytes) }
        .onError { _ in end(false) })
  }
}

/// More comes than the origin can serve and the queue may hold: what is refused is refused at once, and says why; the rest is
/// served as fast as the origin can.
func measureOverload(_ options: Options) throws(NetworkError) {
  NetworkQueue.shared.sizing = .adaptive
  var configuration = NetworkEngine.Configuration()
  configuration.limits.operationsQueuedMax = options.queued
  let engine = try NetworkEngine(configuration: configuration)
  let refusals = Mutex<[UInt32]>([])
  let (served, failed, unnamed) = (Counter(), Counter(), Counter())
  let begin = Usage.now()
  let pace = Pace(rate: options.rate)
  pace.run(options.requests) { index in
    let start = Clock.monotonic()
    engine.enqueue(
      engine.operation(url: options.url(index))
        .onCompletion { _ in served.add() }
        .onError { error in
          guard error.code == .queueFull else { return failed.add() }
          let time = UInt32(clamping: Clock.monotonic() - start)
          refusals.withLock { $0.append(time) }
          if error.reason != "operations" { unnamed.add() }
        })
  }
  // What was served while more came than could be.
  let servedThen = served.value
  let usage = Usage.now() - begin
  let refused = refusals.withLock { $0 }
  var report = Report(client: "netspool", options: options)
  report.add(usage, requests: options.requests)
  report.add("served_per_second", Double(servedThen) / max(Double(usage.nanoseconds) / 1e9, 1e-9))
  report.add("refused", refused.count)
  report.add("failed", failed.value)
  report.add(percentilesOf: refused, "refused")
  report.add("rss_max_bytes", Memory.peak())
  report.add("errors", unnamed.value)
  report.print()
}
