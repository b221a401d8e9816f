internal import Glibc

@testable import NetSpool

/// Records as the stores write them, for a corpus to begin with: `Fuzz samples FOLDER`. After a change of a layout
/// the old ones are only noise.
enum Samples {
  static func write(to folder: String) {
    for (target, records) in [("record", frozen), ("entry", cached)] {
      _ = unsafe mkdir("\(folder)/\(target)", 0o755)
      for (index, record) in records.enumerated() {
        guard let file = unsafe fopen("\(folder)/\(target)/sample-\(index)", "w") else { continue }
        unsafe fwrite(record, 1, record.count, file)
        unsafe fclose(file)
      }
    }
  }

  private static let now = RecordTarget.now

  private static var frozen: [[UInt8]] {
    var request = FrozenRequest(
      method: .post, url: "https://host.test/a?b", key: IdempotencyKey("key"), lane: "lane")
    request.headers.append(name: "Accept", value: "*/*")
    request.secretFields = ["authorization", "cookie"]
    request.tag = "tag"
    request.dedupeKey = "once"
    request.userInfo = [1, 2, 3]
    let record = FrozenRecord(
      request: request, facts: FrozenFacts(at: now, lifetime: .day), lastError: .connectFailed)
    var sent = record
    _ = sent.handle(.launched(epoch: 2), at: now, policy: .standard, random: 0.5)
    let payload = sent.encode(at: now)
    let row = FrozenRow(lane: StoreKey(Array("lane".utf8)).digest, payload: payload)
    var fields = Headers()
    fields.append(name: "ETag", value: "\"a\"")
    let outcome = FrozenOutcome(sent, headers: fields, body: [7], at: now).encode()
    let letter = DeadLetter(DeadLetterCause(.poisoned), haltsLane: true, diedWall: 5, record: sent)
    let ending = FrozenEnding(endedAt: ClockMoment(wall: 5, monotonic: 0), payload: outcome)
    return [
      [0] + row.encode(7), [0x80] + row.encode(1), [1] + ending.encode(7), [2] + FrozenMeta().encode(),
      [3] + record.encode(at: now), [3] + payload, [4] + outcome, [4] + letter.encode(at: now),
    ]
  }

  private static var cached: [[UInt8]] {
    var fields = Headers()
    fields.append(name: "ETag", value: "\"a\"")
    fields.append(name: "Cache-Control", value: "max-age=60, stale-if-error=5")
    fields.append(name: "Date", value: HTTPDate.format(now.wall / 1_000_000))
    let exchange = StoreDecision.Exchange(
      request: CacheRequest(), requestHeaders: Headers(),
      head: ResponseHead(version: .http11, status: 200, headers: fields),
      requestedAt: now.wall / 1000, receivedAt: now.wall / 1000, isComplete: true)
    let stored = StoreDecision.entry(exchange, rules: .standard)?.encode() ?? []
    let index = VariantIndex(fields: VaryFields(names: ["accept", "x-own"]), generation: 3).encode()
    var facts = EntryFacts(recency: 5, bodyID: 6, bodyBytes: 2, large: nil, namespace: 1)
    var (small, large): ([UInt8], [UInt8]) = ([], [])
    small.encode(facts, key: EntryTarget.key, metadata: stored, isHeadInline: true, inlineBody: [1, 2])
    facts.large = EntryFacts.Large(page: 9, checksum: 8, bodyOffset: EntryTarget.key.fullKey.count + 3)
    large.encode(facts, key: EntryTarget.key, metadata: [1, 2, 3], isHeadInline: false, inlineBody: [])
    let namespace = NamespaceRecord(number: 7, name: "images").encode()
    return [[0] + small, [0x80] + small, [0] + large, [1] + namespace, [2] + stored, [2] + index]
  }
}
