/// What a cache holds for a question, fresh or not.
struct HeldAnswer: Sendable {
  let key: StoreKey
  private(set) var stored: StoredResponse
  private(set) var hit: StoreHit

  /// As it is served, with the body unless only the head was asked for. Takes the fields, which have room for
  /// one more, so that they need no copy: once only.
  mutating func takeResponse(
    from source: NetworkResponse.Source, url: String, now: Int64, withBody: Bool, lifetime: Double?
  ) -> NetworkResponse {
    let headers = stored.takeServedHeaders(at: now, isConfirmed: source == .revalidated)
    return NetworkResponse(
      stored, headers, withBody ? hit.body : .empty, from: source, url: url,
      age: stored.age(at: now), isStale: source == .cache && !stored.isFresh(at: now, own: lifetime))
  }

  /// The same with what a 304 or a HEAD has brought.
  func updated(_ stored: StoredResponse) -> HeldAnswer { HeldAnswer(key: key, stored: stored, hit: hit) }

  /// The same with a copy of the body. Waits for the disk.
  var inMemory: HeldAnswer {
    var copy = self
    copy.hit.body = ResponseBytes(hit.body.array)
    return copy
  }
}

/// What a loop gets of a look into the store.
struct LoopLook: Sendable {
  let held: HeldAnswer?
  /// What a request for parts gets of the body (`StoredSelection.parts`).
  var parts: [ResponseBytes] = []
}

extension NetworkResponse {
  /// As it is served, with what of its fields and its body is.
  init(
    _ stored: StoredResponse, _ headers: Headers, _ body: ResponseBytes, from source: Source, url: String,
    age: Int64, isStale: Bool
  ) {
    self.init(
      head: ResponseHead(version: stored.version, status: stored.status, headers: headers), body: body,
      source: source, finalURL: url, age: .seconds(age))
    noteCache(cachedAt: stored.receivedAt, isStale: isStale)
  }
}

/// What the thread that enqueues has found out.
enum FirstLook {
  case answer(NetworkResponse)
  /// What the loop then need not make again: one, in the box that keeps it.
  case asked([AskedCache])
  case nothing
}

/// What the thread that enqueues has asked the cache.
struct AskedCache: Sendable {
  let question: CacheQuestion
  /// Nil: it has not looked.
  let found: Found?

  /// What was found. It counts until this process changes something of the resource, and for a second: other processes do so, too.
  struct Found: Sendable {
    /// At most one, in a box.
    let held: [HeldAnswer]
    /// The changes before it (`CacheStore.mark`).
    let mark: UInt64
    fileprivate let moment = MonotonicClock.now

    fileprivate static let ageMax: Microseconds = 1_000_000
  }
}

/// A fresh hit needs no loop: it is answered on the thread that enqueues.
extension EngineCache {
  /// An answer when there is one and finding it does not take the loop: no unusual URL, no redirect, no policy
  /// that may ask the network all the same.
  ///
  /// - Parameter answering: false where the loop must answer, from what is found here: it feeds streams.
  func look(for request: NetworkRequest, answering: Bool) -> FirstLook {
    let brings = answering && bringsURLOnly(request)
    if brings, let response = lookAgain(for: request.url) { return .answer(response) }
    guard request.method == .get, let originBytes = PlainURL.canonicalOriginLength(request.url),
      !request.hasExtras || isPlain(request.extra)
    else { return .nothing }
    let url = request.url.utf8.span
    guard
      let question = question(
        request, method: .get, origin: url.extracting(first: originBytes),
        target: url.extracting(droppingFirst: originBytes), own: request.headers,
        from: sender(own: request.headers, request.credentials, to: url.extracting(first: originBytes)))
    else { return .nothing }
    // Whoever brings conditions, or asks for parts, is answered by the loop; and a loop's own thread does not wait for the
    // disk.
    if question.request.isOwn || comparesBytes(question, request) || SystemThread.isOurs {
      return .asked([AskedCache(question: question, found: nil)])
    }
    let mark = store.mark
    guard var held = held(for: question) else {
      return .asked([AskedCache(question: question, found: AskedCache.Found(held: [], mark: mark))])
    }
    let now = now
    guard answering, answers(held, question, now) else {
      return .asked([AskedCache(question: question, found: AskedCache.Found(held: [held], mark: mark))])
    }
    if brings { remember(held, question, url: request.url) }
    let response = held.takeResponse(
      from: .cache, url: request.url, now: now, withBody: true, lifetime: question.request.lifetime)
    return .answer(response)
  }

  /// Without the loop: where a redirect leads, it must find out.
  private func answers(_ held: HeldAnswer, _ question: CacheQuestion, _ now: Int64) -> Bool {
    !(300..<400).contains(held.stored.status)
      && CacheDecision.serves(question.request, stored: held.stored, now: now)
  }

  /// The loop will compare what is held with what comes.
  private func comparesBytes(_ question: CacheQuestion, _ request: NetworkRequest) -> Bool {
    question.request.policy == .cachedThenFresh && request.notifiesOnlyChanges
  }

  /// Looks for the loop, where one may wait: what it will read is in memory afterwards.
  ///
  /// - Parameter isFirst: the question is what the request asks, and not where a redirect has led.
  func look(for question: CacheQuestion, _ request: NetworkRequest, isFirst: Bool) -> LoopLook {
    guard let held = held(for: question) else { return LoopLook(held: nil) }
    if isFirst, bringsURLOnly(request), answers(held, question, now) {
      remember(held, question, url: request.url)
    }
    return look(at: comparesBytes(question, request) ? held.inMemory : held, for: question)
  }

  /// Finds the parts of the body that are asked for. Waits for the disk.
  func look(at held: HeldAnswer, for question: CacheQuestion) -> LoopLook {
    guard question.request.isOwn,
      case .parts(let ranges) = StoredSelection(question.request, question.fields, stored: held.stored)
    else { return LoopLook(held: held) }
    var parts = ranges.compactMap { part($0, of: held, for: question) }
    // Several are joined on the loop's thread, which waits for no disk.
    if parts.count > 1 { parts = parts.map { ResponseBytes($0.array) } }
    return parts.count == ranges.count ? LoopLook(held: held, parts: parts) : LoopLook(held: nil)
  }

  /// What was found before the loop asks, if it still counts.
  func stillFound(_ asked: AskedCache) -> AskedCache.Found? {
    guard let found = asked.found, found.moment + AskedCache.Found.ageMax > MonotonicClock.now,
      found.held.allSatisfy({ mayUse($0.stored) }),
      !store.hasChanged(asked.question.primaryKey.digest.first, since: found.mark)
    else { return nil }
    return found
  }

  /// Nothing but the URL tells it from other requests of the engine, and whether what is held is fresh decides.
  private func bringsURLOnly(_ request: NetworkRequest) -> Bool {
    isAskedPlainly && !request.hasExtras && request.headers.count == 0 && request.cachePolicy == nil
      && request.method == .get
  }

  /// The first look again, at what it found before.
  private func lookAgain(for url: String) -> NetworkResponse? {
    let now = now
    guard let recent = recent[url], recent.stored.isFresh(at: now) else { return nil }
    return store.lookup(recent.key, again: recent.place) { readBody in recent.response(at: now, readBody) }
  }

  /// Which of several variants it is would have to be found out each time.
  private func remember(_ held: HeldAnswer, _ question: CacheQuestion, url: String) {
    guard let place = held.hit.place, held.key.digest == question.primaryKey.digest else { return }
    recent.keep(url, held.key, held.stored, place, held.hit.body)
  }

  func isPlain(_ extra: RequestExtras) -> Bool {
    guard case .none = extra.prepared else { return false }
    return !extra.resumes && extra.parameters.isEmpty
  }
}
