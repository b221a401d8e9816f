/// What a request with conditions of its own, or for parts, gets of a stored answer.
extension NetworkResponse {
  /// Becomes what was selected of it. `parts`: the bytes of those that were, which this does not read.
  mutating func select(_ selection: StoredSelection, of stored: StoredResponse, _ parts: [[UInt8]]) {
    switch selection {
    case .whole, .origin: return
    case .notModified: becomeNotModified()
    case .unsatisfiable: becomeUnsatisfiable(total: stored.parts?.total ?? stored.bodyBytes)
    case .parts(let ranges): becomePart(ranges, of: stored, parts)
    }
  }

  /// The fields that RFC 9110 section 15.4.5 asks for, and whatever else is not about the body.
  private mutating func becomeNotModified() {
    head.status = 304
    head.headers = head.headers.dropping { bytes, name in
      name.count > 8 && bytes.equals("content-", in: name.lowerBound..<(name.lowerBound + 8))
        && !bytes.equals("content-location", in: name)
    }
    body = .empty
  }

  private mutating func becomeUnsatisfiable(total: Int64) {
    head.status = 416
    describe(type: nil, bytes: 0, range: "bytes */\(total)")
    body = .empty
  }

  private mutating func becomePart(
    _ ranges: [Range<Int64>], of stored: StoredResponse, _ parts: [[UInt8]]
  ) {
    let total = stored.parts?.total ?? stored.bodyBytes
    head.status = 206
    if ranges.count == 1 {
      body = ResponseBody(parts[0])
      return describe(type: nil, bytes: body.count, range: ContentRange.text(ranges[0], total: total))
    }
    let boundary = "netspool-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    body = ResponseBody(
      ByteRanges.make(
        ranges, total: total, type: head.headers.first("Content-Type"), boundary: boundary, parts))
    describe(type: "multipart/byteranges; boundary=\(boundary)", bytes: body.count, range: nil)
  }

  private mutating func describe(type: String?, bytes: Int, range: String?) {
    head.headers.remove("Content-Range")
    if let type { head.headers.set("Content-Type", type) }
    if let range { head.headers.set("Content-Range", range) }
    head.headers.set("Content-Length", String(bytes))
  }
}

/// Parts of a body that came one by one.
extension EngineCache {
  /// Puts a part to those that are held, if it is certain that they are of the same body (RFC 9111 section 3.4), else in
  /// their place. All of them are the whole answer. Waits for the disk.
  func storePart(
    _ answer: NetworkResponse, _ body: [UInt8], _ entry: StoredResponse, for question: CacheQuestion,
    askedAt: Microseconds
  ) {
    guard !entry.facts.flags.contains(.varies),
      let field = entry.headers.firstBytes("content-range").flatMap({ ContentRange.parse($0) }),
      let total = field.total, let positions = field.range, Int64(body.count) == Int64(positions.count)
    else { return }
    let range = positions.lowerBound..<(positions.upperBound + 1)
    var new = (parts: StoredParts(total: total, ranges: [range]), bytes: body)
    if let held = heldParts(for: question), held.stored.parts?.total == total, held.stored.peer == entry.peer,
      Validators.areOfOneBody(held.stored.allHeaders, answer.head.headers)
    {
      let combined = held.stored.parts?.adding(range, body, to: ResponseBody(lent: held.hit.body).array)
      if let combined { new = (combined.parts, combined.bytes) }
    }
    guard let parts = new.parts, new.bytes.count <= settings.bodyBytesMax else { return }
    putParts(entry, parts, new.bytes, for: question, askedAt: askedAt)
  }
}

extension EngineCache {
  /// Where a resource's parts stand while they are not all there.
  private func partsKey(_ question: CacheQuestion) -> StoreKey {
    StoreKey(CacheKey.parts(of: question.primaryKey.fullKey), resource: question.resource, part: part)
  }

  func heldParts(for question: CacheQuestion) -> HeldAnswer? {
    let key = partsKey(question)
    guard let hit = store.lookup(key),
      let stored = hit.withMetadata({ StoredResponse(decoding: $0, rules: rules) }),
      stored.parts?.bytes == Int64(hit.body.count), mayUse(stored)
    else { return nil }
    return HeldAnswer(key: key, stored: stored, hit: hit)
  }

  fileprivate func putParts(
    _ entry: StoredResponse, _ parts: StoredParts, _ bytes: [UInt8], for question: CacheQuestion,
    askedAt: Microseconds
  ) {
    var entry = entry
    guard parts.isWhole else {
      entry.parts = parts
      entry.bodyBytes = Int64(bytes.count)
      store.put(
        partsKey(question), namespace: settings.namespace, metadata: entry.encode(), body: bytes,
        askedAt: askedAt)
      return
    }
    entry.status = 200
    entry.headers.remove("Content-Range")
    entry.headers.set("Content-Length", String(parts.total))
    store.remove(partsKey(question))
    put(entry, .bytes(bytes), for: question, askedAt: askedAt)
  }
}
