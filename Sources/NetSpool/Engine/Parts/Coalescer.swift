/// Equal requests that are waiting or running: the first carries the others.
///
/// Found by a 64-bit key, compared in full before anything is shared: method, URL, header fields, what is
/// wanted of the cache, redirects that are followed, account, and engine.
/// Two different requests with one key, which chance alone does not bring, simply go their own ways.
/// Where the first cannot be joined any more, the next one carries those that come after it.
final class Coalescer {
  // Safe because the loop thread alone has one, and a table calls nobody back.
  @safe @exclusivity(unchecked) private var leaders: [HashedKey: NetworkOperation] = [:]
  /// Resources that an unsafe request has changed: an answer that was asked for before is no longer what they are.
  private var fences = Fences()

  private let context: LoopContext

  init(_ context: LoopContext) { self.context = context }

  var isEmpty: Bool { leaders.isEmpty }

  /// Shares with an equal request; else this is the one that others join.
  func share(_ operation: NetworkOperation, _ request: NetworkRequest, isAsked: Bool) -> Step {
    let alone: Step = isAsked ? .route(atFront: false) : .consult(then: .line)
    guard isAsked || Self.mayShare(request) else { return alone }
    let key = Self.key(of: request, operation.engine)
    if let leader = leader(for: operation, request, key) {
      // A renewal keeps none waiting that may be answered without.
      if !isAsked, leader.loop.isRefresh, !operation.loop.isRefresh { return .consult(then: .share) }
      if mayJoin(leader) {
        return isTooMuch(of: leader, for: operation) ? alone : .join(leader, isAsked: isAsked)
      }
      leaders[HashedKey(key)] = operation
    }
    operation.loop.sharingKey = key
    return alone
  }

  /// True when its answer may be given to others that come now, and will come: no reader of another's holds it up. An answer
  /// whose head is known and forbids storing, or says that no other request can be known to match, is for the operations
  /// that came before it (RFC 9111 sections 4.1 and 5.2.2.5).
  func mayJoin(_ leader: NetworkOperation) -> Bool {
    if isOutdated(leader) || leader.loop.transfer?.waitsForOwner == true { return false }
    // It waits as its own policy and origin will have it.
    if case .delay? = leader.currentWait?.reason { return false }
    guard let transfer = leader.loop.transfer, !transfer.exchange.hasSuccessor else { return true }
    // A rule of egress may have changed its mind since the connection was made.
    if let peer = transfer.exchange.peer, !transfer.egress.allows(peer) { return false }
    guard let head = transfer.exchange.head else { return true }
    let fields = AnswerFields(head.headers)
    return VaryFields(fields) != nil && !ResponseDirectives(fields).flags.contains(.noStore)
  }

  /// Streams would be given more at once, out of memory, than they may be behind. Others may still share.
  private func isTooMuch(of leader: NetworkOperation, for operation: NetworkOperation) -> Bool {
    guard operation.hasStreams, let transfer = leader.loop.transfer, transfer.bodyUse?.collects == true else {
      return false
    }
    return transfer.bodyBytes > SinkFanout.backlogBytesMax
  }

  /// Has operations that ask for the same not find it any more.
  func leave(_ operation: NetworkOperation) {
    let key = operation.loop.sharingKey
    guard key != 0 else { return }
    operation.loop.sharingKey = 0
    guard let place = leaders.index(forKey: HashedKey(key)), leaders.values[place] === operation else {
      return
    }
    leaders.remove(at: place)
  }

  /// GET and HEAD without a body, unless the caller wants it alone.
  static func mayShare(_ request: NetworkRequest) -> Bool {
    guard request.coalesces, request.method == .get || request.method == .head else { return false }
    guard request.hasExtras else { return true }
    if case .none = request.extra.body { return !request.extra.resumes && !request.extra.waitsForOrigin }
    return false
  }

  private static func key(of request: NetworkRequest, _ engine: NetworkEngine) -> UInt64 {
    var hash = KeyHash(seed: engine.id)
    hash.add(request.url.utf8.span)
    hash.add(request.method.name.utf8.span)
    hash.add(request.headers.block.rawBytes)
    // Whoever has signed in since is somebody else.
    if let jar = engine.jar { hash.add(UInt64(jar.version)) }
    if let policy = request.cachePolicy { hash.add(policy.rawValue.utf8.span) }
    if let wishes = Wishes(request) { hash.add(UInt64(truncatingIfNeeded: wishes.hashValue)) }
    return hash.value
  }

  /// The operation that already asks for the same; if there is none, this one carries from now on.
  private func leader(for operation: NetworkOperation, _ request: NetworkRequest, _ key: UInt64)
    -> NetworkOperation?
  {
    let leader = Self.held(&leaders[HashedKey(key), default: operation])
    if leader === operation { return nil }
    guard leader.engine === operation.engine, leader.withSent({ Self.isSame($0, request) }) else {
      return nil
    }
    // Where streams may be given less than memory, one exchange cannot do both.
    let limits = operation.engine.configuration.limits
    let streamsLess = limits.bodyBytesStreamedMax < limits.bodyBytesInMemoryMax
    if streamsLess, leader.hasStreams != operation.hasStreams { return nil }
    return leader
  }

  /// What stands there; found once, as it is put there if nothing did.
  private static func held(_ place: inout NetworkOperation) -> NetworkOperation { place }

  private static func isSame(_ other: NetworkRequest, _ request: NetworkRequest) -> Bool {
    other.url == request.url && other.method == request.method && other.headers == request.headers
      && other.cachePolicy == request.cachePolicy && Wishes(other) == Wishes(request)
  }

  /// What tells requests apart besides method, URL, fields and policy: whose they are, which redirects are followed, and
  /// what would make the cache answer them differently. The key goes by it, and so does the comparison. Its engine says
  /// the rest of the scope.
  private struct Wishes: Hashable {
    var account: UInt64?
    var scope: String?
    var redirects = NetworkRequest.Redirects.inherited
    var lifetime: Duration?
    var key: String?
    var tag: String?
    var notifiesOnlyChanges = false

    /// Nil for most, which say nothing of it.
    init?(_ request: borrowing NetworkRequest) {
      guard request.hasExtras else { return nil }
      account = request.extra.credentials?.id
      scope = request.extra.credentialScope
      redirects = request.extra.redirects
      lifetime = request.extra.cacheLifetime
      key = request.extra.cacheKey
      tag = key == nil ? nil : request.extra.tag
      notifiesOnlyChanges = request.extra.notifiesOnlyChanges
      if self == Wishes() { return nil }
    }

    private init() {}
  }

  // MARK: Changed resources

  /// All that is under way for this resource was asked for too early for operations that come from now on.
  func fence(_ resource: URLPieces) {
    if isEmpty { fences = Fences() } else { fences.add(Self.number(resource), at: MonotonicClock.now) }
  }

  /// The same for all resources.
  func fenceAll() {
    if isEmpty { fences = Fences() } else { fences.addAll(at: MonotonicClock.now) }
  }

  /// The leader has asked for something that was changed since, here or in another process with the same
  /// cache.
  private func isOutdated(_ leader: NetworkOperation) -> Bool {
    guard let askedAt = askedAt(leader) else { return false }
    let use = leader.loop.cacheUse
    if let use, use.cache.store.holdsBack(use.question.primaryKey.digest.first, askedAt: askedAt) {
      return true
    }
    // A look that is under way makes no use of the cache yet.
    let cache = use == nil ? leader.engine.cache : nil
    guard !fences.isEmpty || cache != nil, let url = try? URLParser.parse(leader.sent.url).pieces else {
      return false
    }
    return fences.holdBack(Self.number(url), askedAt: askedAt)
      || cache.map { $0.store.holdsBack($0.resource(url), askedAt: askedAt) } == true
  }

  /// When it asked its origin, or the store, whose answer is still on its way; nil before.
  private func askedAt(_ leader: NetworkOperation) -> Microseconds? {
    if case .look? = leader.currentWait?.reason { return leader.loop.submittedAt }
    guard let transfer = leader.loop.transfer else { return nil }
    let history = leader.loop.history
    return history?.redirects == nil ? transfer.exchange.startedAt : history?.firstStart ?? 0
  }

  private static func number(_ resource: URLPieces) -> UInt64 {
    StoreKey.resource(CacheKey.resource(resource).rawBytes, part: 0)
  }
}
