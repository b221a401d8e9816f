import BenchKit
import Dispatch
import NetSpool

/// Fresh hits through the whole public face: an operation, a closure, the body touched.
///
/// With `--concurrency 1` each is sent from the closure of the one before; else as many at once as a batch has; with
/// `--milliseconds` by several threads.
func measureHits(_ engine: NetworkEngine, _ options: Options) {
  let hits = Hits(engine, options)
  hits.fill()
  if options.milliseconds > 0 { return measureHitsByThreads(engine, options, urls: hits.urls) }
  if options.concurrency == 1 { hits.measureLatency() } else { hits.measureThroughput() }
}

private final class Hits: Sendable {
  private let engine: NetworkEngine
  private let options: Options
  let urls: [String]
  private let misses = Counter()
  private let touched = Counter()

  init(_ engine: NetworkEngine, _ options: Options) {
    self.engine = engine
    self.options = options
    urls = (0..<options.distinct).map(options.url)
  }

  /// Fetches until everything comes from the cache: what was just put may still be on its way to the disk.
  func fill() {
    for _ in 0..<5 {
      let before = misses.value
      for first in stride(from: 0, to: urls.count, by: 1_000) {
        send(Array(first..<min(first + 1_000, urls.count)))
      }
      if misses.value == before { return misses.add(-before) }
    }
    usageError("the cache does not keep what it is given")
  }

  func measureThroughput() {
    var lookups = Lookups(options)
    let begin = Usage.now()
    lookups.run { indices in
      let before = misses.value
      send(indices)
      return misses.value - before
    }
    let usage = Usage.now() - begin
    var report = Report(client: "netspool", options: options)
    report.add(usage, requests: options.requests + options.warmup)
    lookups.add(to: &report)
    report.print()
  }

  /// A batch, from the first enqueue to the last closure.
  private func send(_ indices: [Int]) {
    guard !indices.isEmpty else { return }
    let left = Counter()
    let done = DispatchSemaphore(value: 0)
    for index in indices {
      engine.enqueue(
        engine.operation(url: urls[index])
          .onCompletion { [self] response in
            take(response)
            if left.next() == indices.count { done.signal() }
          }
          .onError { [self] _ in
            misses.add()
            if left.next() == indices.count { done.signal() }
          })
    }
    done.wait()
  }

  private func take(_ response: NetworkResponse) {
    touched.add(unsafe response.body.withUnsafeBytes { bytes in unsafe touch(bytes) })
    if response.source != .cache || response.body.count != options.bodyBytes { misses.add() }
  }
}

extension Hits {
  /// From the call of `enqueue` to the closure, one at a time.
  func measureLatency() {
    let order = Lookups(options).indices(0..<(options.warmup + options.requests))
    let loop = ClosedLoop(options: options) { [self] index, loop in
      let startedAt = Clock.monotonic()
      engine.enqueue(
        engine.operation(url: urls[order[min(index, order.count - 1)]])
          .onCompletion { [self] response in
            take(response)
            loop.completed(startedAt: startedAt, ok: response.source == .cache)
          }
          .onError { _ in loop.completed(startedAt: startedAt, ok: false) })
    }
    var report = Report(client: "netspool", options: options)
    report.add(loop.run())
    report.print()
  }
}
