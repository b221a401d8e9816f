import Dispatch
import NetSpoolCore

/// The store of frozen requests, without the engine: `--store` bulk, single or open.
func measureFreezing(_ options: Options) throws {
  var settings = FrozenStoreSettings(directory: options.cache)
  settings.bytesMax = max(settings.bytesMax, options.requests * (options.bodyBytes + 4_096))
  settings.recordsMax = max(settings.recordsMax, 2 * options.requests)
  var report = Report(client: "inside", options: options)
  report.add("requests", options.requests)
  if options.store == "open" {
    report.add("open_seconds", try opening(settings, options))
  } else {
    let writes = FrozenWrites(try FrozenStore.open(settings), options)
    let begin = Clock.monotonic()
    writes.write(options.requests, atOnce: options.store == "single" ? 1 : options.requests)
    report.add("freeze_ns", Double(Clock.monotonic() - begin) / Double(options.requests))
    report.add("errors", writes.refused.value)
  }
  report.add("rss_max_bytes", Memory.peak())
  report.print()
}

/// Seconds until a store with so many records is open; it is filled if it is new.
private func opening(_ settings: FrozenStoreSettings, _ options: Options) throws -> Double {
  let store = try FrozenStore.open(settings)
  if store.statistics.records < options.requests {
    FrozenWrites(store, options).write(options.requests, atOnce: 10_000)
  }
  store.close()
  let begin = Clock.monotonic()
  let again = try FrozenStore.open(settings)
  defer { again.close() }
  return Double(Clock.monotonic() - begin) / 1e9
}

/// Records of the size that the options say, a fifth of it what the owner keeps of the request.
private struct FrozenWrites: Sendable {
  let refused = Counter()
  private let store: FrozenStore
  private let row: FrozenRow
  private let body: [UInt8]

  init(_ store: FrozenStore, _ options: Options) {
    self.store = store
    let key = LaneKey("lane")
    let kept = options.bodyBytes / 5
    row = FrozenRow(lane: KeyDigest((key.first, key.second)), payload: [UInt8](repeating: 1, count: kept))
    body = [UInt8](repeating: 2, count: options.bodyBytes - kept)
  }

  /// Hands over so many at once, and waits until they are on the disk before the next.
  func write(_ count: Int, atOnce: Int) {
    for first in stride(from: 0, to: count, by: atOnce) {
      let group = min(atOnce, count - first)
      let (written, done) = (Counter(), DispatchSemaphore(value: 0))
      for _ in 0..<group {
        store.submit(.accept(row, body: body)) { answer in
          if case .failure = answer { refused.add() }
          if written.next() == group { done.signal() }
        }
      }
      done.wait()
    }
  }
}
