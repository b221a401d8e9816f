import BenchKit
import Dispatch
import NetSpool

/// One large body: counted by a stream that keeps nothing, or written to each of the files.
func measureDownload(_ engine: NetworkEngine, _ options: Options) {
  let counted = Counter()
  let failures = Counter()
  let done = DispatchSemaphore(value: 0)
  let operation = engine.operation(url: options.download)
  if options.door == "async" { return measureSequence(engine, operation, options) }
  addStreams(to: operation, options, counted)
  let begin = Usage.now()
  engine.enqueue(
    operation.onCompletion { _ in done.signal() }
      .onError { error in
        complain("\(error)")
        failures.add()
        done.signal()
      })
  done.wait()
  let usage = Usage.now() - begin
  var report = Report(client: "netspool", options: options)
  report.add(download: usage, bytes: options.outputs.first.map(fileBytes) ?? counted.value)
  report.add("errors", failures.value)
  report.print()
}

/// The same, read piece by piece by a task.
private func measureSequence(_ engine: NetworkEngine, _ operation: NetworkOperation, _ options: Options) {
  let counted = Counter()
  let failures = Counter()
  let done = DispatchSemaphore(value: 0)
  let begin = Usage.now()
  Task {
    do {
      for try await piece in try await engine.stream(operation).body { counted.add(piece.count) }
    } catch {
      complain("\(error)")
      failures.add()
    }
    done.signal()
  }
  done.wait()
  let usage = Usage.now() - begin
  var report = Report(client: "netspool", options: options)
  report.add(download: usage, bytes: counted.value)
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
