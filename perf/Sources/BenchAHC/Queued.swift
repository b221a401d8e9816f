import AsyncHTTPClient
import BenchKit
import NIOCore

/// The caller's time for handing over a request, with every connection busy for good.
func measureEnqueue(_ client: HTTPClient, _ options: Options) {
  let silent = silentTarget(options)
  let requests = (0..<options.requests).map { makeRequest(silent.url($0)) }
  let wall = Clock.monotonic()
  let thread = Clock.thread()
  for request in requests { client.execute(request: request).whenComplete { _ in } }
  var report = Report(client: "ahc", options: options)
  report.add("requests", options.requests)
  report.add("enqueue_ns", Double(Clock.monotonic() - wall) / Double(options.requests))
  report.add("enqueue_cpu_ns", Double(Clock.thread() - thread) / Double(options.requests))
  report.print()
}

/// Resident bytes for each further request that waits.
func measureMemory(_ client: HTTPClient, _ options: Options) {
  let silent = silentTarget(options)
  let first = options.concurrency * 2
  for index in 0..<first { client.execute(request: makeRequest(silent.url(index))).whenComplete { _ in } }
  let before = Memory.settled()
  for index in first..<(first + options.requests) {
    client.execute(request: makeRequest(silent.url(index))).whenComplete { _ in }
  }
  let after = Memory.settled()
  var report = Report(client: "ahc", options: options)
  report.add("requests", options.requests)
  report.add("bytes_per_queued", Double(after - before) / Double(options.requests))
  report.add("rss_max_bytes", Memory.peak())
  report.print()
}

/// The same options, aimed at a port that never answers.
private func silentTarget(_ options: Options) -> Options {
  var silent = options
  silent.urlPrefix = SilentListener().urlPrefix
  silent.unique = true
  return silent
}
