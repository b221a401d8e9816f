import BenchKit
import Dispatch
import NetSpool

/// One large body: counted by a stream that keeps nothing, or written to each of the files; by the door of tasks, read
/// piece by piece.
func measureDownload(_ engine: NetworkEngine, _ options: Options) {
  let counted = Counter()
  let failures = Counter()
  let done = DispatchSemaphore(value: 0)
  let operation = engine.operation(url: options.download)
  let isAsync = options.door == "async"
  if !isAsync { addStreams(to: operation, options, counted) }
  let begin = Usage.now()
  if isAsync {
    Task {
      do {
        for try await piece in try await engine.stream(operation).body { counted.add(piece.count) }
      } catch {
        complain("\(error)")
        failures.add()
      }
      done.signal()
    }
  } else {
    engine.enqueue(
      operation.onCompletion { _ in done.signal() }
        .onError { error in
          complain("\(error)")
          failures.add()
          done.signal()
        })
  }
  done.wait()
  let usage = Usage.now() - begin
  let file = isAsync ? nil : options.outputs.first
  var report = Report(client: "netspool", options: options)
  report.add(download: usage, bytes: file.map(fileBytes) ?? counted.value)
  report.add("errors", failures.value)
  report.print()
}

private func addStreams(to operation: NetworkOperation, _ options: Options, _ counted: Counter) {
  if options.outputs.isEmpty {
    operation.addDownloadStream(CountingStream(counted: counted, wantsDigest: options.digests))
  }
  for path in options.outputs {
    operation.addDownloadStream(FileDownloadStream(path: path, digests: options.digests))
  }
}

/// Adds up the bytes and keeps none.
private struct CountingStream: DownloadStream {
  let counted: Counter
  let wantsDigest: Bool

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {}

  func write(_ bytes: RawSpan) throws -> WriteResult {
    counted.add(bytes.byteCount)
    return .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) {}
}
