/// A single question to the origin for all processes that share a store: when a GET that the cache cannot answer gets its turn,
/// its key is claimed (`ClaimTable`). Where another process has it, or another loop of this one, the operation gives its
/// turn back and waits, and asks the cache again when the other has stored its answer, or has given up.
///
/// No operation depends on another: a claim ends with its operation's turn, however that ends, and a second after its loop
/// was last alive; an operation that waited for what came to nothing asks the origin itself.
final class Claims {
  private let waiting = WaitList()
  private var isLooking = false
  /// As whom this loop claims in each table; those without claims are let go at the next tick.
  private var claimants: [ObjectIdentifier: Claimant] = [:]
  private let context: LoopContext

  init(_ context: LoopContext) { self.context = context }

  /// The period of looks at claims for which others wait.
  private static let lookMilliseconds: UInt64 = 10

  /// What an operation does instead of starting when another process asks for the same, or has done so just now.
  func step(_ operation: NetworkOperation) -> Step? {
    guard let use = operation.loop.cacheUse, use.mayClaim, use.claim == nil, !operation.loop.hasAwaitedClaim,
      operation.loop.transfer == nil, Coalescer.mayShare(operation.sent), let table = use.cache.store.claims
    else { return nil }
    let key = use.question.primaryKey.digest
    switch table.claim(key, for: claimant(in: table)) {
    case .unneeded: return nil
    case .claimed(let claim, isNews: false):
      use.claim = claim
      return nil
    case .claimed(let claim, isNews: true): return .consult(then: .front, after: claim)
    case .taken:
      // Another may have stored the answer in the meantime.
      let wait = Wait(.claim(table, key, operation), in: waiting, then: .consult(then: .front))
      lookSoon()
      return .wait(wait)
    }
  }

  private func claimant(in table: ClaimTable) -> Claimant {
    if let known = claimants[ObjectIdentifier(table)] { return known }
    let claimant = Claimant(table)
    claimants[ObjectIdentifier(table)] = claimant
    return claimant
  }

  /// Tells the other processes that this loop is alive.
  func beat(now: Microseconds) {
    for (id, claimant) in claimants {
      if claimant.isIdle { claimants[id] = nil } else { claimant.beat(now) }
    }
  }

  private func lookSoon() {
    guard !isLooking, !waiting.isEmpty else { return }
    isLooking = true
    context.timers.after(milliseconds: Self.lookMilliseconds) { [unowned self] in
      var left = waiting.count
      context.doInPieces { [unowned self] in
        look(atMost: min(left, Turn.piece))
        left -= Turn.piece
        if left > 0 { return true }
        isLooking = false
        lookSoon()
        return false
      }
    }
  }

  private func look(atMost count: Int) {
    for _ in 0..<count {
      guard let wait = waiting.popFirst(), case .claim(let table, let key, let operation) = wait.reason
      else { return }
      switch table.state(of: key) {
      case .taken: waiting.append(wait)
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
