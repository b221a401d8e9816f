/// How late the loop runs what it is handed, while as many requests as `--bulk` says are under way, and each that
/// ends, however it does, starts the next.
func measureLag(_ options: Options) throws(NetworkError) {
  let queue = NetworkQueue.shared
  queue.sizing = .fixed(options.bulk)
  queue.maximumConcurrent = options.bulk
  queue.maximumPerOrigin = options.bulk
  var configuration = NetworkEngine.Configuration()
  if !options.ca.isEmpty { configuration.tls.caFile = options.ca }
  let load = Load(engine: try NetworkEngine(configuration: configuration), options: options)
  for index in 0..<options.bulk { load.send(index) }
  let beats = ClosedLoop(options: options) { index, loop in
    let due = loop.startTime(index)
    queue.driver.perform { _ in loop.completed(startedAt: due, ok: true) }
  }
  let result = beats.run()
  var report = Report(client: "inside", options: options)
  report.add(result)
  report.add("worst_us", Double(result.latencies.max() ?? 0) / 1_000)
  report.add("load_ended", load.ended.value)
  report.print()
}

/// Requests that never stop.
private struct Load: Sendable {
  let engine: NetworkEngine
  let options: Options
  let ended = Counter()

  func send(_ index: Int) {
    engine.enqueue(
      engine.operation(url: "\(options.url(index))?lag=\(index)")
        .onCompletion { _ in next(index) }
        .onError { _ in next(index) })
  }

  private func next(_ index: Int) {
    ended.add()
    send(index + options.bulk)
  }
}
