import AsyncHTTPClient
import BenchKit
import NIOCore

/// The caller's time for making a request and for handing it over, with every connection busy for good.
func measureEnqueue(_ client: HTTPClient, _ options: Options) {
  let silent = options.aimedAtSilence()
  var cost = CallerCost()
  let urls = (0..<options.requests).map(silent.url)
  let requests = cost.measure("make", count: urls.count) { urls.map(makeRequest) }
  cost.measure("enqueue", count: requests.count) {
    for request in requests { client.execute(request: request).whenComplete { _ in } }
  }
  var report = Report(client: "ahc", options: options)
  report.add("requests", options.requests)
  cost.add(to: &report)
  report.print()
}

/// Several threads hand over at once: what all of them together get rid of in a second.
func measureCallers(_ client: HTTPClient, _ options: Options) {
  let silent = options.aimedAtSilence()
  let each = options.requests / options.threads
  let urls = (0..<(each * options.threads)).map(silent.url)
  let begin = Usage.now()
  let nanoseconds = ThreadTeam.run(options.threads) { thread in
    for url in urls[(thread * each)..<((thread + 1) * each)] {
      client.execute(request: makeRequest(url)).whenComplete { _ in }
    }
  }
  var report = Report(client: "ahc", options: options)
  report.add(handedOver: urls.count, nanoseconds: nanoseconds, usage: Usage.now() - begin)
  report.print()
}

/// Resident bytes for each further request that waits.
func measureMemory(_ client: HTTPClient, _ options: Options) {
  let silent = options.aimedAtSilence()
  let growth = measureGrowth(options) { index in
    client.execute(request: makeRequest(silent.url(index))).whenComplete { _ in }
  }
  var report = Report(client: "ahc", options: options)
  report.add(growth, requests: options.requests)
  report.print()
}
