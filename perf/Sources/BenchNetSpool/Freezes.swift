import BenchKit
import Glibc
import NetSpool

/// Accepts requests that must not be lost at `--rate`, and says the key of each once it is on the disk, one a line; then
/// waits until all have been sent, those of killed processes before it too.
func stressFreeze(_ engine: NetworkEngine, _ options: Options) throws(NetworkError) {
  try engine.useFreezing(patient(options.cache))
  try engine.onThawed { _ in }
  Pace(rate: max(1, options.rate)).run(options.requests) { index in
    engine.enqueue(freezable(engine, options, index))
  }
  while !engine.frozenOperations.isEmpty { usleep(50_000) }  // the watchdog is the bound
  var report = Report(client: "netspool", options: options)
  report.add("requests", options.requests)
  report.add("rss_max_bytes", Memory.peak())
  report.add("errors", engine.deadLetters.count)
  report.print()
}

/// Requests that must not be lost, all at once, until each has been sent and answered. Their lanes are as `--store` says:
/// `lane`, one for all; `lanes`, one for each of 16; `unordered`, one without an order.
func measureFreezes(_ engine: NetworkEngine, _ options: Options) throws(NetworkError) {
  var freezing = FreezeConfiguration()
  freezing.directory = options.cache
  try engine.useFreezing(freezing)
  let endings = Endings(count: options.requests)
  let begin = Clock.monotonic()
  for index in 0..<options.requests {
    var request = NetworkRequest(url: "\(options.urlPrefix)/taken", method: .post)
    request.body = .bytes([UInt8](repeating: 1, count: options.bodyBytes))
    request.isFreezable = true
    request.freezing.isOrdered = options.store != "unordered"
    if options.store == "lanes" { request.freezing.lane = "\(index % 16)" }
    engine.enqueue(
      engine.operation(request)
        .onCompletion { _ in endings.add(index, .completed) }
        .onError { _ in endings.add(index, .failed) })
  }
  endings.wait()
  let seconds = Double(Clock.monotonic() - begin) / 1e9
  var report = Report(client: "netspool", options: options)
  report.add("requests", options.requests)
  report.add("requests_per_second", Double(options.requests) / seconds)
  report.add("seconds", seconds)
  report.add("rss_max_bytes", Memory.peak())
  endings.add(to: &report)
  report.print()
}

/// One that gives nothing up: being killed again and again is what is tried here.
private func patient(_ directory: String) -> FreezeConfiguration {
  var freezing = FreezeConfiguration()
  freezing.directory = directory
  freezing.attemptsMax = 1_000
  freezing.crashesMax = 1_000
  freezing.backoffBase = .seconds(0.05)
  freezing.backoffMax = .seconds(0.5)
  return freezing
}

private func freezable(_ engine: NetworkEngine, _ options: Options, _ index: Int) -> NetworkOperation {
  var request = NetworkRequest(url: "\(options.urlPrefix)/frozen", method: .post)
  request.body = .bytes(Array("request \(index)".utf8))
  request.isFreezable = true
  return engine.operation(request)
    .onFrozen { ticket in
      let line = Array("\(ticket.idempotencyKey)\n".utf8)
      _ = unsafe write(1, line, line.count)
    }
}
