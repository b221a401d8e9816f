/// What was made of stored answers, such as thumbnails. It stands beside the answer, under a name of its maker's: whatever
/// removes the resource removes it too. Any thread.
///
/// As long as the answer is held, it lives as long as that: an answer that a 304 has confirmed needs no new thumbnail, and
/// one that another has replaced leaves none. Once the answer has been evicted, by what it said of its own lifetime.
extension EngineCache {
  /// In the fields that are stored with it: the number of the body that it was made of, and how many bytes that has.
  static let sourceField = "NetSpool-Made-Of"

  /// What a request is about, as the loop would ask; nil for what no cache answers, and for what takes the loop to find out.
  func question(about request: NetworkRequest) -> CacheQuestion? {
    guard request.method == .get, !request.hasExtras || isPlain(request.extra),
      let parsed = try? URLParser.parse(request.url), parsed.user == nil
    else { return nil }
    let pieces = parsed.pieces
    let question = question(
      request, method: .get, origin: pieces.origin.text.utf8.span, target: pieces.pathAndQuery.utf8.span,
      own: request.headers,
      from: sender(own: request.headers, request.credentials, to: pieces.origin.text.utf8.span))
    return question.flatMap { $0.request.isOwn ? nil : $0 }
  }

  /// What was made of the answer to this, if both still hold.
  func derived(_ name: String, for question: CacheQuestion) -> HeldAnswer? {
    let source = held(for: question)
    guard let found = wholeAnswer(at: key(name, source?.key ?? question.primaryKey, question)) else {
      return nil
    }
    guard let source else { return isServed(found, question) ? found : nil }
    guard found.stored.headers.first(Self.sourceField) == Self.text(of: source),
      isServed(source, question)
    else { return nil }
    return found
  }

  /// What was made of the very body that an answer has just brought, which therefore holds, however often the origin wants
  /// to be asked.
  func derived(_ name: String, of body: ResponseBytes, for question: CacheQuestion) -> HeldAnswer? {
    guard let source = held(for: question), let found = wholeAnswer(at: key(name, source.key, question)),
      found.stored.headers.first(Self.sourceField) == Self.text(of: source),
      source.hit.body.hasSameBytes(as: body)
    else { return nil }
    return found
  }

  /// Keeps what was made of the body of an answer, if that very body is held: what may not be stored has no thumbnail in
  /// the cache either.
  func keep(
    derived name: String, _ bytes: [UInt8], type: String, of body: ResponseBytes, for question: CacheQuestion
  ) {
    let askedAt = MonotonicClock.now  // what is removed from now on is not stored
    guard bytes.count <= settings.bodyBytesMax, let source = held(for: question),
      source.stored.status == 200, source.stored.parts == nil,
      source.hit.body.hasSameBytes(as: body)
    else { return }
    var entry = source.stored
    entry.headers = Self.fields(of: source, type: type)
    entry.bodyBytes = Int64(bytes.count)
    store.put(
      key(name, source.key, question), namespace: settings.namespace, metadata: entry.encode(), body: bytes,
      askedAt: askedAt)
  }

  private func key(_ name: String, _ source: StoreKey, _ question: CacheQuestion) -> StoreKey {
    StoreKey(CacheKey.derived(name, of: source.fullKey), resource: question.resource, part: part)
  }

  private func isServed(_ held: HeldAnswer, _ question: CacheQuestion) -> Bool {
    CacheDecision.serves(question.request, stored: held.stored, now: now)
  }

  /// A validator of the source would be none of what was made of it.
  private static func fields(of source: HeldAnswer, type: String) -> Headers {
    var fields = source.stored.headers
    for name in [
      "Content-Length", "Content-Encoding", "Content-Disposition", "ETag", "Last-Modified", "Accept-Ranges",
    ] { fields.remove(name) }
    fields.set("Content-Type", type)
    fields.set(sourceField, text(of: source))
    return fields
  }

  private static func text(of source: HeldAnswer) -> String {
    "\(String(source.hit.bodyID, radix: 16)) \(source.hit.body.count)"
  }
}
