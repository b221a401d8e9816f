/// Parts of a body that came one by one, in pieces (`PartTable`). All of it waits for the disk.
extension EngineCache {
  /// Puts a part to those that are held, if it is certain that they are of the same body (RFC 9111 section
  /// 3.4), else in their place. All of them are the whole answer; an older one that is another's goes.
  func storePart(
    _ answer: NetworkResponse, _ body: [UInt8], _ entry: StoredResponse, for question: CacheQuestion,
    askedAt: Microseconds
  ) {
    if let whole = heldWhole(for: question), whole.stored.receivedAt <= entry.receivedAt,
      whole.stored.isOutdated(byPart: answer.head.headers)
    {
      remove(whole)
    }
    guard !entry.facts.flags.contains(.varies),
      let field = entry.headers.firstBytes("content-range").flatMap({ ContentRange.parse($0) }),
      let total = field.total, let positions = field.range, Int64(body.count) == Int64(positions.count)
    else { return }
    let range = positions.lowerBound..<(positions.upperBound + 1)
    let held = heldParts(for: question)
    let before = held.flatMap(table(of:)) ?? PartTable()
    var change = PartChange(cache: self, question: question, entry: entry, askedAt: askedAt)
    if let held, held.stored.parts?.total == total, held.stored.peer == entry.peer,
      Validators.areOfOneBody(held.stored.allHeaders, answer.head.headers)
    {
      change.table = before
    }
    change.add(range, body, total: total)
    guard let parts = StoredParts(total: total, ranges: change.table.ranges),
      parts.bytes <= Int64(settings.bodyBytesMax)
    else { return }
    if parts.isWhole, let whole = change.bytes(0..<total) {
      store.remove(partsKey(question))
      putWhole(entry, whole, total, for: question, askedAt: askedAt)
      change.table = PartTable()
    } else {
      change.put(parts)
    }
    for number in before.numbers.subtracting(change.table.numbers) {
      store.remove(pieceKey(number, question))
    }
  }

  private func putWhole(
    _ entry: StoredResponse, _ bytes: [UInt8], _ total: Int64, for question: CacheQuestion,
    askedAt: Microseconds
  ) {
    var entry = entry
    entry.status = 200
    entry.headers.remove("Content-Range")
    entry.headers.set("Content-Length", String(total))
    put(entry, .bytes(bytes), for: question, askedAt: askedAt)
  }

  /// Bytes of a held body, by their positions in the whole one; nil when a piece of them has gone.
  func part(_ range: Range<Int64>, of held: HeldAnswer, for question: CacheQuestion) -> ResponseBytes? {
    guard held.stored.parts != nil else {
      return held.hit.body.part(Int(range.lowerBound)..<Int(range.upperBound))
    }
    return table(of: held).flatMap { bytes(range, in: $0, for: question) }.map { ResponseBytes($0) }
  }

  fileprivate func bytes(
    _ range: Range<Int64>, in table: PartTable, for question: CacheQuestion, new: [UInt64: [UInt8]] = [:]
  ) -> [UInt8]? {
    guard let pieces = table.pieces(of: range) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    for piece in pieces {
      let place = piece.place
      if let own = new[piece.number] {
        bytes += own[place]
      } else if let hit = store.lookup(pieceKey(piece.number, question)), hit.body.count >= place.upperBound {
        hit.body.withBytes(place) { bytes.append($0) }
      } else {
        return nil
      }
    }
    return bytes
  }

  private func table(of held: HeldAnswer) -> PartTable? { PartTable(decoding: held.hit.body.array.rawBytes) }

  func heldParts(for question: CacheQuestion) -> HeldAnswer? {
    guard let held = answer(at: partsKey(question)), let parts = held.stored.parts else { return nil }
    return table(of: held)?.ranges == parts.ranges ? held : nil
  }

  /// Where the table of a resource's parts stands while they are not all there.
  fileprivate func partsKey(_ question: CacheQuestion) -> StoreKey {
    StoreKey(CacheKey.parts(of: question.primaryKey.fullKey), resource: question.resource, part: part)
  }

  fileprivate func pieceKey(_ number: UInt64, _ question: CacheQuestion) -> StoreKey {
    StoreKey(CacheKey.piece(number, of: question.primaryKey.fullKey), resource: question.resource, part: part)
  }
}

/// A table that gets another part, and the pieces that are not stored yet.
private struct PartChange {
  let cache: EngineCache
  let question: CacheQuestion
  let entry: StoredResponse
  let askedAt: Microseconds
  var table = PartTable()
  var new: [UInt64: [UInt8]] = [:]

  func bytes(_ range: Range<Int64>) -> [UInt8]? { cache.bytes(range, in: table, for: question, new: new) }

  /// With too many gaps, or where a piece has gone that another was to be joined with, it stands alone.
  mutating func add(_ range: Range<Int64>, _ body: [UInt8], total: Int64) {
    add(range, body)
    var isInOrder = StoredParts(total: total, ranges: table.ranges) != nil
    for range in table.rangesToJoin where isInOrder {
      if let joined = bytes(range) { add(range, joined) } else { isInOrder = false }
    }
    if isInOrder { return }
    (table, new) = (PartTable(), [:])
    add(range, body)
  }

  private mutating func add(_ range: Range<Int64>, _ body: [UInt8]) {
    let number = UInt64.random(in: 0...UInt64.max)
    new[number] = body
    table.put(range, at: number)
  }

  func put(_ parts: StoredParts) {
    var entry = entry
    entry.parts = parts
    entry.bodyBytes = parts.bytes
    let metadata = entry.encode()
    for (number, body) in new where table.numbers.contains(number) {
      put(cache.pieceKey(number, question), metadata, body)
    }
    put(cache.partsKey(question), metadata, table.encode())
  }

  private func put(_ key: StoreKey, _ metadata: [UInt8], _ body: [UInt8]) {
    cache.store.put(
      key, namespace: cache.settings.namespace, metadata: metadata, body: body, askedAt: askedAt)
  }
}
