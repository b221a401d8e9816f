import AsyncHTTPClient
import BenchKit
import NIOCore
import NIOHTTP1

/// GETs in a closed loop, the body held in a buffer, completions on the event loop.
func measureGets(_ client: HTTPClient, _ options: Options) {
  let urls = MadeURLs(options)
  let loop = ClosedLoop(options: options) { index, loop in
    let startedAt = loop.startTime(index)
    client.execute(request: makeRequest(urls[index])).whenComplete { result in
      loop.completed(startedAt: startedAt, ok: isRight(result, options))
    }
  }
  var report = Report(client: "ahc", options: options)
  report.add(loop.run())
  report.print()
}

private func isRight(_ result: Result<HTTPClient.Response, any Error>, _ options: Options) -> Bool {
  guard case .success(let response) = result else { return false }
  return response.status.code == 200 && response.body?.readableBytes == options.bodyBytes
}
