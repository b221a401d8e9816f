#if Metrics
internal import CoreMetrics
internal import Synchronization

/// The metrics of an engine for swift-metrics (trait `Metrics`): <doc:Services> has the names.
///
/// Endings count at once; what is looked at (gauges) once a second, as long as anything runs, waits or is frozen.
final class EngineMetrics: Sendable {
  private struct Key: Hashable {
    var method: String
    var status: Int?
    var error: String?
    var source: String?
  }

  private struct Series: Sendable {
    let requests: CoreMetrics.Counter
    let duration: CoreMetrics.Timer
    let queueWait: CoreMetrics.Timer
  }

  /// The dimensions of all series: the server that the engine is for, and the engine.
  private let own: [(String, String)]
  private let series = Mutex<[Key: Series]>([:])
  private let gauges = Mutex<[String: CoreMetrics.Gauge]>([:])
  private let isLookDue = Atomic(false)

  init(_ home: URLPieces.Origin?, engine: UInt64) {
    let server = home.map { [("server.address", $0.host), ("server.port", "\($0.port)")] } ?? []
    own = server + [("netspool.engine", "\(engine)")]
  }

  /// What an engine was told of goes with it: else a program that makes ever new ones would have ever more series.
  deinit {
    for series in series.withLock({ $0.values.map(\.self) }) {
      series.requests.destroy()
      series.duration.destroy()
      series.queueWait.destroy()
    }
    for gauge in gauges.withLock({ $0.values.map(\.self) }) { gauge.destroy() }
  }

  func ended(
    _ operation: NetworkOperation, _ result: Result<NetworkResponse, NetworkError>,
    _ metrics: NetworkResponse.Metrics
  ) {
    let answer = result.answer
    var key = Key(
      method: operation.request.method.known ?? "_OTHER", status: answer?.status,
      source: answer?.source.rawValue)
    if case .failure(let error) = result { key.error = error.type }
    let series = series(of: key)
    series.requests.increment()
    series.duration.recordMicroseconds(metrics.endToEndTime)
    if metrics.queueWaitTime > 0 { series.queueWait.recordMicroseconds(metrics.queueWaitTime) }
    lookSoon(operation.engine)
  }

  private func series(of key: Key) -> Series {
    series.withLock { all in
      if let series = all[key] { return series }
      var dimensions = [("http.request.method", key.method)] + own
      if let status = key.status { dimensions.append(("http.response.status_code", "\(status)")) }
      if let error = key.error { dimensions.append(("error.type", error)) }
      if let source = key.source { dimensions.append(("netspool.source", source)) }
      let new = Series(
        requests: CoreMetrics.Counter(label: "netspool.requests", dimensions: dimensions),
        duration: CoreMetrics.Timer(label: "http.client.request.duration", dimensions: dimensions),
        queueWait: CoreMetrics.Timer(label: "netspool.queue.wait", dimensions: dimensions))
      all[key] = new
      return new
    }
  }

  // MARK: Gauges

  /// In a second, once for all that happens until then. Any thread.
  func lookSoon(_ engine: NetworkEngine) {
    guard !isLookDue.load(ordering: .relaxed), !isLookDue.exchange(true, ordering: .relaxed) else { return }
    // Weak: numbers keep nothing alive.
    engine.homePort.perform { [weak engine, self] core in
      core.timers.after(milliseconds: 1_000) { [weak engine, weak core] in
        self.isLookDue.store(false, ordering: .relaxed)
        guard let engine, let core else { return }
        let own = core.snapshot().origins.first { $0.origin == engine.home?.text }
        engine.deliverLate { self.look(at: engine, own) }
      }
    }
  }

  private func look(at engine: NetworkEngine, _ own: NetworkQueue.OriginSnapshot?) {
    let activity = engine.driver.activity
    if engine.driver.gauges.isDue() { Self.look(at: engine.driver, activity) }
    if let own {
      gauge("netspool.origin.width", Double(own.width))
      gauge("netspool.origin.connections", Double(own.connections))
    }
    if let cache = engine.cacheStatistics {
      gauge("netspool.cache.hits", Double(cache.hits))
      gauge("netspool.cache.misses", Double(cache.misses))
      gauge("netspool.cache.bytes", Double(cache.bytes))
    }
    if let freezing = engine.freezing { gauge("netspool.frozen.age", Double(freezing.ageOfOldest) / 1e6) }
    // While there is something to see: an origin that is down ends nothing for long.
    if !engine.isClosed, activity.running + activity.queued + activity.frozen > 0 { lookSoon(engine) }
  }

  private func gauge(_ label: String, _ value: Double) {
    let gauge = gauges.withLock { gauges in
      let gauge = gauges[label] ?? CoreMetrics.Gauge(label: label, dimensions: own)
      gauges[label] = gauge
      return gauge
    }
    gauge.record(value)
  }

  /// Metrics that all engines of a queue have in common have no dimension.
  private static func look(at driver: QueueDriver, _ activity: NetworkQueue.Activity) {
    let values: [(String, Double)] = [
      ("netspool.queue.running", Double(activity.running)),
      ("netspool.queue.waiting", Double(activity.queued)),
      ("netspool.frozen", Double(activity.frozen)),
      ("netspool.loop.longest", Double(driver.takeLongestTurn()) / 1e6),
    ]
    for (label, value) in values { CoreMetrics.Gauge(label: label).record(value) }
  }
}

/// Several engines look at one queue: the first in a second does it for all.
final class QueueGauges: Sendable {
  private let lookedAt = Atomic<Microseconds>(0)

  func isDue() -> Bool {
    let (last, now) = (lookedAt.load(ordering: .relaxed), MonotonicClock.now)
    guard last == 0 || now - last >= 900_000 else { return false }
    return lookedAt.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
  }
}
#endif
