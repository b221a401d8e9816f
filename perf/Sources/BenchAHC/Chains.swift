import AsyncHTTPClient
import BenchKit
import NIOCore
import NIOHTTP1
import Synchronization

/// GETs by as many chains as are on the wire, each with a count of its own.
func measureChains(_ client: HTTPClient, _ options: Options) {
  let prefixes = options.hosts > 1 ? (0..<options.hosts).map(options.prefix(ofHost:)) : [options.urlPrefix]
  let each = max(1, options.concurrency / prefixes.count)
  let chains = prefixes.flatMap { prefix in
    (0..<each).map { Chain(client, options, ChainURLs(options, prefix: prefix, number: $0, of: each)) }
  }
  for chain in chains { chain.send() }
  Window.report("ahc", options, over: chains.map(\.tally))
}

private final class Chain: Sendable {
  let tally = Tally()
  private let client: HTTPClient
  private let bodyBytes: Int
  // A lock that is never waited for: a chain has one request under way.
  private let urls: Mutex<ChainURLs>

  init(_ client: HTTPClient, _ options: Options, _ urls: ChainURLs) {
    self.client = client
    self.urls = Mutex(urls)
    bodyBytes = options.bodyBytes
  }

  func send() {
    client.execute(request: makeRequest(urls.withLock { $0.take() })).whenComplete { [self] result in
      if case .success(let response) = result, response.status == .ok {
        tally.add(ok: response.body?.readableBytes == bodyBytes)
      } else {
        tally.add(ok: false)
      }
      send()
    }
  }
}
