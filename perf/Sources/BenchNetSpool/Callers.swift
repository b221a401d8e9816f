import BenchKit
import NetSpool

/// Several threads hand over at once, to a port that never answers: what all of them together get rid of in a second.
func measureCallers(_ engine: NetworkEngine, _ options: Options) {
  let silent = options.aimedAtSilence()
  let failures = Counter()
  let each = options.requests / options.threads
  let urls = (0..<(each * options.threads)).map(silent.url)
  let begin = Usage.now()
  let nanoseconds = ThreadTeam.run(options.threads) { thread in
    for url in urls[(thread * each)..<((thread + 1) * each)] {
      engine.enqueue(
        engine.operation(url: url)
          .onCompletion { _ in failures.add() }  // nothing there ever answers
          .onError { _ in failures.add() })
    }
  }
  var report = Report(client: "netspool", options: options)
  report.add(handedOver: urls.count, nanoseconds: nanoseconds, usage: Usage.now() - begin)
  report.add("errors", failures.value)
  report.print()
}
