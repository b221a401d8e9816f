/// A store with as many answers as the options say, under the keys of their URLs.
struct FilledStore {
  /// How much of a hit is done: `--store`.
  enum Depth: String {
    /// The body under a key that is hashed already.
    case lookup
    /// And whether it may be served.
    case decision
    /// And the hash of the key.
    case key
  }

  private let depth: Depth
  private let store: CacheStore
  private let texts: [[UInt8]]
  private let keys: [StoreKey]
  private let request = CacheRequest()

  init(_ options: Options) throws {
    guard let depth = Depth(rawValue: options.store) else { usageError("--store: lookup, decision or key") }
    self.depth = depth
    var settings = CacheStoreSettings(directory: options.cache)
    settings.bytesMax = max(settings.bytesMax, 2 * options.distinct * (options.bodyBytes + 4_096))
    store = try CacheStore.open(settings)
    texts = (0..<options.distinct).map { Array("1a\u{0}GET\u{0}\(options.url($0))".utf8) }
    keys = texts.map { StoreKey($0) }
    fill(options.bodyBytes)
  }

  /// Answers as nginx gives them.
  private func fill(_ bodyBytes: Int) {
    guard let last = keys.last, store.lookup(last) == nil, let metadata = Self.metadata(bodyBytes) else {
      return
    }
    for (index, key) in keys.enumerated() {
      let body = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: bodyBytes)
      store.put(key, namespace: "default", metadata: metadata, body: body)
      if index % 1_000 == 999 { store.flush() }
    }
    store.flush()
  }

  private static func metadata(_ bodyBytes: Int) -> [UInt8]? {
    var fields = Headers()
    fields.append(name: "Server", value: "nginx/1.22.1")
    fields.append(name: "Content-Type", value: "application/octet-stream")
    fields.append(name: "Content-Length", value: String(bodyBytes))
    fields.append(name: "ETag", value: "\"6b01150a-2000\"")
    fields.append(name: "Cache-Control", value: "max-age=86400")
    fields.append(name: "Accept-Ranges", value: "bytes")
    let now = WallClock.milliseconds
    let exchange = StoreDecision.Exchange(
      request: CacheRequest(), requestHeaders: Headers(),
      head: ResponseHead(version: .http11, status: 200, headers: fields), requestedAt: now,
      receivedAt: now,
      isComplete: true)
    var stored = StoreDecision.entry(exchange, rules: .standard)
    stored?.bodyBytes = Int64(bodyBytes)
    return stored?.encode()
  }

  /// 0 if it is not there, or not fresh.
  func find(_ index: Int) -> Int {
    let key = depth == .key ? StoreKey(texts[index]) : keys[index]
    guard let hit = store.lookup(key) else { return 0 }
    guard depth == .lookup || isFresh(hit) else { return 0 }
    return unsafe hit.body.withUnsafeBytes { bytes in unsafe touch(bytes) } | 1
  }

  private func isFresh(_ hit: StoreHit) -> Bool {
    let entry = PrimaryEntry(decoding: hit.metadata.rawBytes, rules: .standard)
    guard case .response(let stored) = entry else { return false }
    return CacheDecision.make(for: request, stored: stored, now: WallClock.milliseconds) == .serve
  }
}
