import BenchKit
import NetSpool

/// GETs in a closed loop, completion by closure, the body in the response.
func measureGets(_ engine: NetworkEngine, _ options: Options) {
  // A closure that held all options would copy them for each request.
  let bodyBytes = options.bodyBytes
  let urls = MadeURLs(options)
  let loop = ClosedLoop(options: options) { index, loop in
    let startedAt = loop.startTime(index)
    let operation = engine.operation(url: urls[index])
    if options.bulk > 0 { operation.priority = .urgent }
    if options.door == "async" { return answer(operation, options, loop, startedAt) }
    engine.enqueue(
      operation
        .onCompletion { response in
          let ok = response.status == 200 && response.body.count == bodyBytes
          loop.completed(startedAt: startedAt, ok: ok)
        }
        .onError { _ in loop.completed(startedAt: startedAt, ok: false) })
  }
  Bulk.start(engine, options)
  // A deep queue is filled first and opened then, so that filling it is no part of the measurement.
  NetworkQueue.shared.isSuspended = options.queued > 0
  let result = loop.run { NetworkQueue.shared.isSuspended = false }
  var report = Report(client: "netspool", options: options)
  report.add(result)
  report.print()
}

/// By the other door: a task that waits.
private func answer(
  _ operation: NetworkOperation, _ options: Options, _ loop: ClosedLoop, _ startedAt: UInt64
) {
  Task {
    let response = try? await engine.response(for: operation)
    loop.completed(
      startedAt: startedAt, ok: response?.status == 200 && response?.body.count == options.bodyBytes)
  }
}
