@testable import NetSpool

/// What the cache makes of an exchange: stored, read back, asked again, made stale.
///
/// Input: a byte of choices, the request's fields as lines, an empty line, the head of the answer.
enum ExchangeTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choices = input.byte()
    let request = requestFields(&input)
    let rest = input.rest
    var parser = HeaderParser()
    guard let head = head(&parser, rest) else { return }
    let asked = policies.map { CacheRequest(headers: request, policy: $0) }
    for rules in [CacheRules.standard, shared, .relaxed] {
      let exchange = StoreDecision.Exchange(
        request: asked[0], requestHeaders: request, head: head,
        requestedAt: now - Int64(choices & 15) * 1000, receivedAt: now, isComplete: true)
      guard let entry = StoreDecision.entry(exchange, rules: rules) else { continue }
      require(choices & 16 == 0 || !isBarred(head.headers), "what may not be stored is not")
      check(entry, rules)
      checkServing(entry, asked, head, rules)
    }
  }

  private static let now: Int64 = 1_720_000_000_000
  private static let policies: [CachePolicy] = [
    .automatic, .cachedThenFresh, .preferCached, .onlyIfCached, .reload,
  ]
  private static let shared = {
    var rules = CacheRules.standard
    rules.isShared = true
    return rules
  }()

  private static func requestFields(_ input: inout InputReader) -> Headers {
    var fields = Headers()
    while true {
      let line = input.line()
      guard !line.isEmpty else { return fields }
      guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
        line[..<colon].allSatisfy(\.isTokenByte)
      else { continue }
      let value = line[line.index(after: colon)...].filter { $0 != 0x0D && $0 != 0 }
      fields.append(name: line[..<colon], value: FieldNames.trimmed(value[...]))
    }
  }

  private static func head(_ parser: inout HeaderParser, _ bytes: ArraySlice<UInt8>) -> ResponseHead? {
    var rest = bytes
    while !rest.isEmpty {
      guard let event = try? parser.consume(&rest) else { return nil }
      if case .head(let head) = event { return head }
    }
    return nil
  }

  /// The plainest reading of a plain no-store; `must-understand` takes its place (RFC 9111 section 5.2.2.3).
  private static func isBarred(_ headers: Headers) -> Bool {
    let lines = headers.all("cache-control").map { $0.lowercased() }
    return lines.contains("no-store") && !lines.contains { $0.contains("must-understand") }
  }

  private static func check(_ entry: StoredResponse, _ rules: CacheRules) {
    // A part is stored with its place, which it has not got yet.
    require(
      entry.status == 206 || StoredResponse(decoding: entry.encode(), rules: rules) == entry,
      "an entry is read back as it was")
    require((0...DeltaSeconds.secondsMax).contains(entry.facts.lifetime), "a lifetime is within bounds")
    require(!rules.isShared || !entry.headers.contains("Set-Cookie"), "no cookie is shared")
    checkSendable(entry.conditions)
    checkSendable(entry.servedHeaders(age: entry.age(at: now)))
    for ahead: Int64 in [0, 1000, 1 << 40, .max / 2, -(1 << 40)] {
      let age = entry.servedHeaders(age: entry.age(at: now &+ ahead)).first("Age")
      require(age == String(entry.age(at: now &+ ahead)), "it is served with its age")
      require(entry.age(at: now &+ ahead) >= 0, "no age is negative")
    }
  }

  private static func checkServing(
    _ entry: StoredResponse, _ requests: [CacheRequest], _ head: ResponseHead, _ rules: CacheRules
  ) {
    for asked in requests {
      let decision = CacheDecision.make(for: asked, stored: entry, now: now + 60_000)
      let serves = CacheDecision.serves(asked, stored: entry, now: now + 60_000)
      require(serves == (decision == .serve), "both ways to decide agree")
      if asked.directives.flags.contains(.noCache) || asked.policy == .reload {
        require(!serves, "who demands validation gets it")
      }
    }
    _ = entry.mayServeStale(after: .status(503), to: requests[0], now: now + 60_000)
    let answer = entry.notModified(head, requestedAt: now + 1000, receivedAt: now + 2000, rules: rules)
    if case .updated(let new) = answer { check(new, rules) }
  }
}
