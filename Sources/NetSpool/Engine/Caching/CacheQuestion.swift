/// What is asked of a cache: a request as the origin would see it.
struct CacheQuestion: Sendable {
  let request: CacheRequest
  /// All fields that would be sent; `Vary` may name any of them.
  let fields: Headers
  let scope: CacheScope
  /// Names the resource; its answer, or the index of its variants, stands here.
  let primaryKey: StoreKey

  init(_ request: consuming CacheRequest, fields: Headers, scope: CacheScope, primaryKey: StoreKey) {
    self.request = request
    self.fields = fields
    self.scope = scope
    self.primaryKey = primaryKey
  }
}

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
    from source: NetworkResponse.Source, url: String, now: Int64, withBody: Bool
  ) -> NetworkResponse {
    let headers = stored.takeServedHeaders(at: now)
    return NetworkResponse(
      head: ResponseHead(version: stored.version, status: stored.status, headers: headers),
      body: withBody ? ResponseBody(lent: hit.body) : .empty, source: source, finalURL: url,
      metrics: NetworkResponse.Metrics(), streams: [], age: .seconds(stored.age(at: now)))
  }

  /// The same with what a 304 or a HEAD has brought.
  func updated(_ stored: StoredResponse) -> HeldAnswer { HeldAnswer(key: key, stored: stored, hit: hit) }
}
