/// The store of frozen requests, `--store` bulk, single or open; the same through the engine: engine, engine-single or
/// engine-open.
func measureFreezing(_ options: Options) throws {
  var settings = FrozenStoreSettings(directory: options.cache)
  settings.bytesMax = max(settings.bytesMax, options.requests * (options.bodyBytes + 4_096))
  settings.recordsMax = max(settings.recordsMax, 2 * options.requests)
  var report = Report(client: "inside", options: options)
  report.add("requests", options.requests)
  switch options.store {
  case "open", "engine-open": report.add("open_seconds", try opening(settings, options))
  case "engine", "engine-single":
    let writes = try EngineFreezes(options)
    report.add(writes.refused, timing(options) { writes.write(options.requests, atOnce: $0) })
  default:
    let writes = FrozenWrites(try FrozenStore.open(settings), options)
    report.add(writes.refused, timing(options) { writes.write(options.requests, atOnce: $0) })
  }
  report.add("rss_max_bytes", Memory.peak())
  report.print()
}

/// Nanoseconds for each, one by one or all at once.
private func timing(_ options: Options, _ write: (_ atOnce: Int) -> Void) -> Double {
  let begin = Clock.monotonic()
  write(options.store.hasSuffix("single") ? 1 : options.requests)
  return Double(Clock.monotonic() - begin) / Double(options.requests)
}

extension Report {
  fileprivate mutating func add(_ refused: Counter, _ nanoseconds: Double) {
    add("freeze_ns", nanoseconds)
    add("errors", refused.value)
  }
}

/// Seconds until a store with so many records is open; it is filled if it is new.
private func opening(_ settings: FrozenStoreSettings, _ options: Options) throws -> Double {
  let store = try FrozenStore.open(settings)
  if store.statistics.records < options.requests {
    FrozenWrites(store, options).write(options.requests, atOnce: 10_000)
  }
  store.close()
  if options.store == "engine-open" { return try EngineFreezes.opening(options) }
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
    row = FrozenRow(
      lane: KeyDigest((key.first, key.second)),
      payload: Self.payload(upTo: kept, bodyBytes: options.bodyBytes - kept))
    body = [UInt8](repeating: 2, count: options.bodyBytes - kept)
  }

  /// A request as the engine writes it, filled up.
  private static func payload(upTo bytes: Int, bodyBytes: Int) -> [UInt8] {
    let now = ClockMoment(wall: WallClock.microseconds, monotonic: MonotonicClock.now)
    var request = FrozenRequest(
      method: .post, url: "http://127.0.0.1/", key: IdempotencyKey(), lane: "lane")
    request.bodyBytes = bodyBytes
    let facts = FrozenFacts(at: now, lifetime: 7 * .day)
    let least = FrozenRecord(request: request, facts: facts).encode(at: now).count
    request.userInfo = [UInt8](repeating: 1, count: max(0, bytes - least))
    return FrozenRecord(request: request, facts: facts).encode(at: now)
  }

  /// Hands over so many at once, which are on the disk before the next.
  func write(_ count: Int, atOnce: Int) {
    var journal = FrozenJournal(store) { .now }
    for first in stride(from: 0, to: count, by: atOnce) {
      for _ in 0..<min(atOnce, count - first) {
        journal.append(.accept(row, body: body), .caller { _, _ in })
      }
      while journal.isWaiting {
        for notice in journal.writeBatch() { if case .failure = notice.result { refused.add() } }
      }
    }
  }
}
