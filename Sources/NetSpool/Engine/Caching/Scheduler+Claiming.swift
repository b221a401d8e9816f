/// One question to the origin for all processes that share a store: when a GET that the cache cannot answer gets its turn,
/// its key is claimed (`ClaimTable`). Where another process has it, or another loop of this one, the operation gives its
/// turn back and waits, and asks the cache again when the other has stored its answer, or has given up.
///
/// Nobody depends on the other: a claim ends with its operation's turn, however that ends, and a second after its loop was
/// last alive; whoever waited for what came to nothing asks the origin itself.
struct ClaimWaits {
  fileprivate let waiting = WaitList()
  fileprivate var isLooking = false
  /// As whom this loop claims in each table; those without claims are let go at the next tick.
  fileprivate var claimants: [ObjectIdentifier: Claimant] = [:]
}

extension Scheduler {
  /// How often those who wait look at their claims, and for how long at most.
  private static let claimLookMilliseconds: UInt64 = 10
  private static let claimLookMax: Microseconds = 4_000

  /// True when somebody else asks for the same, or has done so just now: the operation has given its turn back.
  func awaitsClaim(_ operation: NetworkOperation, at origin: Origin) -> Bool {
    guard let use = operation.loop.cacheUse, use.mayClaim, use.claim == nil,
      !operation.loop.hasAwaitedClaim, operation.loop.transfer == nil, Coalescer.mayShare(operation.sent),
      let claims = use.cache.store.claims
    else { return false }
    let key = use.question.primaryKey.digest
    switch claims.claim(key, for: claimant(in: claims)) {
    case .unneeded: return false
    case .claimed(let claim, isNews: false):
      use.claim = claim
      return false
    case .claimed(let claim, isNews: true):
      move(operation, to: .deciding)
      queue.finished(origin.id)
      consult(operation, operation.sent, then: .wait(atFront: true), after: claim)
    case .taken:
      // Another may have stored the answer in the meantime.
      suspend(operation, for: .claim(claims, key, operation), in: self.claims.waiting) { [unowned self] _ in
        consult(operation, operation.sent, then: .wait(atFront: true))
      }
      queue.finished(origin.id)
      limitStreams(of: operation)
      lookAtClaimsSoon()
    }
    return true
  }

  private func claimant(in table: ClaimTable) -> Claimant {
    if let known = claims.claimants[ObjectIdentifier(table)] { return known }
    let claimant = Claimant(table)
    claims.claimants[ObjectIdentifier(table)] = claimant
    return claimant
  }

  /// Tells the other processes that this loop is alive.
  func beatClaims(now: Microseconds) {
    for (id, claimant) in claims.claimants {
      if claimant.isIdle { claims.claimants[id] = nil } else { claimant.beat(now) }
    }
  }

  private func lookAtClaimsSoon() {
    guard !claims.isLooking, !claims.waiting.isEmpty else { return }
    claims.isLooking = true
    timers.after(milliseconds: Self.claimLookMilliseconds) { [unowned self] in
      claims.isLooking = false
      lookAtClaims()
      lookAtClaimsSoon()
    }
  }

  private func lookAtClaims() {
    let until = MonotonicClock.now + Self.claimLookMax
    for _ in 0..<claims.waiting.count {
      guard MonotonicClock.now < until, let wait = claims.waiting.popFirst(),
        case .claim(let table, let key, let operation) = wait.reason
      else { return }
      switch table.state(of: key) {
      case .taken: claims.waiting.append(wait)
      case .done, .uncacheable:
        operation.loop.hasAwaitedClaim = true
        wait.goOn()
      case .free, .void: wait.goOn()
      }
    }
  }
}

extension CacheUse {
  /// A plain question that is put without conditions; whether what is held still holds, each process asks itself.
  fileprivate var mayClaim: Bool {
    guard cache.settings.coalescesAcrossProcesses, !isConditional, question.request.method == .get,
      !question.request.isOwn
    else { return false }
    return switch question.request.policy {
    case .automatic, .preferCached, .staleWhileRevalidate: true
    case .cachedThenFresh, .onlyIfCached, .alwaysValidate, .reload, .noStore: false
    }
  }
}
