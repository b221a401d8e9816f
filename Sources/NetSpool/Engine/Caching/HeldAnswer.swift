/// What a cache holds for a question, fresh or not.
struct HeldAnswer: Sendable {
  let key: StoreKey
  private(set) var stored: StoredResponse
  let hit: StoreHit

  init(key: StoreKey, stored: StoredResponse, hit: StoreHit) {
    self.key = key
    self.stored = stored
    self.hit = hit
  }

  /// As it is served, with the body unless only the head was asked for. Takes the fields, which have room for
  /// one more, so that they need no copy: once only.
  mutating func takeResponse(
    from source: NetworkResponse.Source, url: String, now: Int64, withBody: Bool, lifetime: Double?
  ) -> NetworkResponse {
    let headers = stored.takeServedHeaders(at: now, isConfirmed: source == .revalidated)
    return NetworkResponse(
      stored, headers, withBody ? ResponseBody(lent: hit.body) : .empty, from: source, url: url, now: now,
      isStale: source == .cache && !stored.isFresh(at: now, own: lifetime))
  }

  /// The same with what a 304 or a HEAD has brought.
  func updated(_ stored: StoredResponse) -> HeldAnswer { HeldAnswer(key: key, stored: stored, hit: hit) }
}

extension NetworkResponse {
  /// As it is served, with what of its fields and its body is.
  fileprivate init(
    _ stored: StoredResponse, _ headers: Headers, _ body: ResponseBody, from source: Source, url: String,
    now: Int64, isStale: Bool
  ) {
    self.init(
      head: ResponseHead(version: stored.version, status: stored.status, headers: headers), body: body,
      source: source, finalURL: url, age: .seconds(stored.age(at: now)))
    noteCache(cachedAt: stored.receivedAt, isStale: isStale)
  }
}

/// What the thread that enqueues has found out.
struct FirstLook {
  /// Boxed as it will be kept: the response itself is large.
  var answer: NetworkOperation.Outcome?
  /// What the loop then need not make again: none, or one in a box that a hit does not need.
  var question: [CacheQuestion] = []
}

/// A fresh hit needs no loop: it is answered on the thread that enqueues.
extension EngineCache {
  /// An answer when there is one and finding it does not take the loop: no unusual URL, no redirect, no policy
  /// that may ask the network all the same.
  func look(for request: NetworkRequest) -> FirstLook {
    let brings = bringsURLOnly(request)
    if brings, let response = lookAgain(for: request.url) { return FirstLook(answer: .success(response)) }
    guard request.method == .get, let originBytes = PlainURL.canonicalOriginLength(request.url),
      !request.hasExtras || isPlain(request.extra)
    else { return FirstLook() }
    let url = request.url.utf8.span
    guard
      var question = question(
        request, method: .get, origin: url.extracting(first: originBytes),
        target: url.extracting(droppingFirst: originBytes), own: request.headers,
        fields: ownFieldsIfAny(request))
    else { return FirstLook() }
    // Whoever brings conditions or asks for parts is answered on the loop.
    if question.request.isOwn { return FirstLook(question: [question]) }
    let commit = store.newestCommit
    guard let hit = store.lookup(question.primaryKey) else {
      question.missedAt = commit
      return FirstLook(question: [question])
    }
    guard var held = held(for: question, at: hit) else { return FirstLook(question: [question]) }
    let now = now
    guard !(300..<400).contains(held.stored.status),
      CacheDecision.serves(question.request, stored: held.stored, now: now)
    else { return FirstLook(question: [question]) }
    if brings { remember(held, url: request.url) }
    let response = held.takeResponse(
      from: .cache, url: request.url, now: now, withBody: true, lifetime: question.request.lifetime)
    didServe(response.body.count)
    return FirstLook(answer: .success(response))
  }

  /// Nothing but the URL tells it from other requests of the engine, and whether what is held is fresh decides.
  private func bringsURLOnly(_ request: NetworkRequest) -> Bool {
    isAskedPlainly && !request.hasExtras && request.headers.count == 0 && request.cachePolicy == nil
      && request.method == .get
  }

  /// The first look again, at what it found before.
  private func lookAgain(for url: String) -> NetworkResponse? {
    let now = now
    guard let recent = recent[url], recent.stored.isFresh(at: now),
      let body = store.lookup(recent.key, again: recent.place)
    else { return nil }
    didServe(body.count)
    return NetworkResponse(
      recent.stored, recent.stored.servedHeaders(at: now), ResponseBody(lent: body), from: .cache, url: url,
      now: now, isStale: false)
  }

  /// Which of several variants it is would have to be found out each time.
  private func remember(_ held: HeldAnswer, url: String) {
    guard let place = held.hit.place, !held.stored.facts.flags.contains(.varies) else { return }
    recent.keep(RecentAnswers.Answer(url: url, key: held.key, stored: held.stored, place: place))
  }

  func isPlain(_ extra: RequestExtras) -> Bool {
    guard case .none = extra.prepared else { return false }
    return !extra.resumes && extra.parameters.isEmpty
  }

  /// Nil for a request that sends the engine's fields and no others.
  func ownFieldsIfAny(_ request: NetworkRequest) -> Headers? {
    if request.headers.count == 0, request.credentials == nil { return nil }
    return SentFields.make(
      defaults: defaults, own: SentFields.add(request.credentials, to: request.headers),
      decodes: !request.headers.contains("Range"))
  }
}
