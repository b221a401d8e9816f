import AsyncHTTPClient
import BenchKit
import NIOCore
import NIOHTTP1

/// One large body: counted, or written by the client's own file delegate.
func measureDownload(_ client: HTTPClient, _ options: Options) throws {
  guard options.outputs.count <= 1 else { usageError("this client writes one body to one file") }
  let begin = Usage.now()
  let bytes = try fetch(client, options)
  let usage = Usage.now() - begin
  var report = Report(client: "ahc", options: options)
  report.add(usage, requests: 1)
  report.add("bytes", bytes)
  report.add("cpu_seconds", (usage.userMicroseconds + usage.systemMicroseconds) / 1e6)
  report.add("rss_max_bytes", Memory.peak())
  report.add("errors", 0)
  report.print()
}

private func fetch(_ client: HTTPClient, _ options: Options) throws -> Int {
  let request = makeRequest(options.download)
  guard let path = options.outputs.first else {
    return try client.execute(request: request, delegate: Counter()).wait()
  }
  let delegate = try FileDownloadDelegate(path: path)
  return try client.execute(request: request, delegate: delegate).wait().receivedBytes
}

/// Adds up the body's bytes and keeps none. Called on the event loop of its request only.
private final class Counter: HTTPClientResponseDelegate {
  // Safe because the client calls the delegate of a request on that request's event loop only.
  nonisolated(unsafe) private var bytes = 0

  func didReceiveBodyPart(task: HTTPClient.Task<Int>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    unsafe bytes += buffer.readableBytes
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<Int>) throws -> Int { unsafe bytes }
}
