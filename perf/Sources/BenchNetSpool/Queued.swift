import BenchKit
import NetSpool

/// The caller's time for making an operation with its closures and for handing it over, with every
/// connection busy for good.
func measureEnqueue(_ engine: NetworkEngine, _ options: Options) {
  let silent = options.aimedAtSilence()
  let failures = Counter()
  var cost = CallerCost()
  let urls = (0..<options.requests).map(silent.url)
  let operations = cost.measure("make", count: urls.count) {
    urls.map { makeOperation(engine, $0, failures) }
  }
  cost.measure("enqueue", count: operations.count) {
    for operation in operations { engine.enqueue(operation) }
  }
  var report = Report(client: "netspool", options: options)
  report.add("requests", options.requests)
  cost.add(to: &report)
  report.add("errors", failures.value)
  report.print()
}

/// Resident bytes for each further operation that waits.
func measureMemory(_ engine: NetworkEngine, _ options: Options) {
  let silent = options.aimedAtSilence()
  let failures = Counter()
  let growth = measureGrowth(options) { index in
    engine.enqueue(makeOperation(engine, silent.url(index), failures))
  }
  var report = Report(client: "netspool", options: options)
  report.add(growth, requests: options.requests)
  report.add("errors", failures.value)
  report.print()
}

private func makeOperation(_ engine: NetworkEngine, _ url: String, _ failures: Counter) -> NetworkOperation {
  engine.operation(url: url)
    .onCompletion { _ in failures.add() }  // nothing there ever answers
    .onError { _ in failures.add() }
}
