import BenchKit
import Dispatch
import NetSpool

/// Many threads hand over operations at once, without waiting for any: each closure must run, and once.
func stressEnqueue(_ engine: NetworkEngine, _ options: Options) {
  let endings = Endings(count: options.requests)
  let begin = Usage.now()
  let handedOver = Counter()
  DispatchQueue.concurrentPerform(iterations: options.threads) { thread in
    let start = Clock.monotonic()
    for index in stride(from: thread, to: options.requests, by: options.threads) {
      engine.enqueue(watched(engine, options.url(index), index, endings))
    }
    handedOver.add(Int(Clock.monotonic() - start))
  }
  endings.wait()
  var report = Report(client: "netspool", options: options)
  report.add(Usage.now() - begin, requests: options.requests)
  report.add("threads", options.threads)
  report.add("enqueue_ns", Double(handedOver.value) / Double(options.requests))
  finish(endings, &report)
}

/// An operation whose end, however it comes, is counted.
func watched(
  _ engine: NetworkEngine, _ url: String, _ index: Int, _ endings: Endings,
  then: @escaping @Sendable () -> Void = {}
) -> NetworkOperation {
  engine.operation(url: url)
    .onCompletion { _ in
      endings.add(index, .completed)
      then()
    }
    .onError { error in
      endings.add(index, error.code == .cancelled ? .cancelled : .failed)
      then()
    }
}

/// What is left when all have ended: nothing under way, and no more descriptors than connections.
func finish(_ endings: Endings, _ report: inout Report) {
  let isIdle = NetworkQueue.shared.drainAndWait(deadline: .seconds(10))
  let activity = NetworkQueue.shared.activity
  report.add("still_busy", isIdle ? 0 : activity.queued + activity.running)
  report.add("descriptors", Descriptors.open())
  report.add("rss_max_bytes", Memory.peak())
  endings.add(to: &report)
  report.print()
}
