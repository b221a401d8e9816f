import AsyncHTTPClient
import BenchKit
import NIOCore

/// One large body: counted, or written by the client's own file delegate.
func measureDownload(_ client: HTTPClient, _ options: Options) throws {
  guard options.outputs.count <= 1 else { usageError("this client writes one body to one file") }
  let begin = Usage.now()
  let bytes = try fetch(client, options)
  let usage = Usage.now() - begin
  var report = Report(client: "ahc", options: options)
  report.add(download: usage, bytes: bytes)
  report.add("errors", 0)
  report.print()
}

private func fetch(_ client: HTTPClient, _ options: Options) throws -> Int {
  let request = makeRequest(options.download)
  guard let path = options.outputs.first else {
    return try client.execute(request: request, delegate: CountingDelegate()).wait()
  }
  let delegate = try FileDownloadDelegate(path: path)
  return try client.execute(request: request, delegate: delegate).wait().receivedBytes
}

/// Adds up the body's bytes and keeps none.
private final class CountingDelegate: HTTPClientResponseDelegate {
  private let counted = Counter()

  func didReceiveBodyPart(task: HTTPClient.Task<Int>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    counted.add(buffer.readableBytes)
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<Int>) throws -> Int { counted.value }
}
