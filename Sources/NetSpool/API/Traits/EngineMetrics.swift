#if Metrics
internal import CoreMetrics
internal import Synchronization

/// What an engine tells swift-metrics (trait `Metrics`): <doc:Services> has the names.
///
/// Endings count at once; what is looked at (gauges) a second after an ending, so at most once a second.
final class EngineMetrics: Sendable {
  private struct Key: Hashable {
    var method: String
    var outcome: String
    var source: String
  }

  private struct Series: Sendable {
    let requests: CoreMetrics.Counter
    let duration: CoreMetrics.Timer
    let queueWait: CoreMetrics.Timer
  }

  private let host: String
  private let series = Mutex<[Key: Series]>([:])
  private let isLookDue = Atomic(false)

  init(host: String?) { self.host = host ?? "" }

  func ended(
    _ operation: NetworkOperation, _ result: Result<NetworkResponse, NetworkError>,
    _ metrics: NetworkResponse.Metrics
  ) {
    let series = series(of: Self.key(operation, result))
    series.requests.increment()
    series.duration.recordMicroseconds(metrics.endToEndTime)
    if metrics.queueWaitTime > 0 { series.queueWait.recordMicroseconds(metrics.queueWaitTime) }
    lookSoon(operation.engine)
  }

  private static func key(_ operation: NetworkOperation, _ result: Result<NetworkResponse, NetworkError>)
    -> Key
  {
    let method = operation.request.method.name
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"].contains(method)
    var key = Key(method: known ? method : "_OTHER", outcome: "", source: "")
    switch result {
    case .success(let response): (key.outcome, key.source) = ("\(response.status)", response.source.rawValue)
    case .failure(let error):
      key.outcome = error.code == .status ? "\(error.response?.status ?? 0)" : error.code.description
    }
    return key
  }

  private func series(of key: Key) -> Series {
    series.withLock { all in
      if let series = all[key] { return series }
      let dimensions = [
        ("http.request.method", key.method), ("server.address", host), ("outcome", key.outcome),
        ("source", key.source),
      ]
      let new = Series(
        requests: CoreMetrics.Counter(label: "netspool.requests", dimensions: dimensions),
        duration: CoreMetrics.Timer(label: "http.client.request.duration", dimensions: dimensions),
        queueWait: CoreMetrics.Timer(label: "netspool.queue.wait", dimensions: dimensions))
      all[key] = new
      return new
    }
  }

  // MARK: Gauges

  private func lookSoon(_ engine: NetworkEngine) {
    guard !isLookDue.exchange(true, ordering: .relaxed) else { return }
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
    gauge("netspool.queue.running", Double(activity.running))
    gauge("netspool.queue.waiting", Double(activity.queued))
    gauge("netspool.frozen", Double(activity.frozen))
    gauge("netspool.loop.longest", Double(engine.driver.longestTurn) / 1e6)
    if let own {
      gauge("netspool.origin.width", Double(own.width))
      gauge("netspool.origin.connections", Double(own.connections))
    }
    if let cache = engine.cacheStatistics {
      gauge("netspool.cache.hits", Double(cache.hits))
      gauge("netspool.cache.misses", Double(cache.misses))
      gauge("netspool.cache.bytes", Double(cache.bytes))
    }
    if activity.frozen > 0 { gauge("netspool.frozen.age", Self.age(of: engine.frozenOperations)) }
  }

  /// Of the oldest, in seconds.
  private static func age(of frozen: [FrozenOperation]) -> Double {
    frozen.map(\.createdAt).min().map { max(0, Double(WallClock.seconds) - $0) } ?? 0
  }

  private func gauge(_ label: String, _ value: Double) {
    CoreMetrics.Gauge(label: label, dimensions: [("server.address", host)]).record(value)
  }
}
#endif
