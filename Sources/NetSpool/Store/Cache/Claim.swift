internal import Synchronization

/// The right to ask the origin for what a key stands for, which no other claimant has meanwhile. Free again with the last
/// reference. Any thread.
final class Claim: Sendable {
  private let table: ClaimTable
  private let claimant: Claimant
  private let index: Int
  private let word: ClaimWord
  private let isOver = Atomic(false)

  init(_ table: ClaimTable, _ claimant: Claimant, _ index: Int, _ word: ClaimWord) {
    (self.table, self.claimant, self.index, self.word) = (table, claimant, index, word)
  }

  deinit { release() }

  /// The origin has answered, or will not; what was to be stored is.
  func finish() { end(as: .done) }

  /// The answer is of no use to others: for a while no request shall wait for the next one either.
  func giveUp() { end(as: .uncacheable) }

  /// Ends the claim as if it had never been made.
  func release() { end(as: .none) }

  private func end(as kind: ClaimWord.Kind) {
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    table.end(word, at: index, as: kind)
    claimant.didEndClaim()
  }
}

/// A claimant, to the other processes: a loop with all that it asks for. While it has claims it says again and again
/// that it is alive, so that they end with it, also when it is only stopped. Any thread.
final class Claimant: Sendable {
  private let table: ClaimTable
  private let claims = Atomic(0)
  private let membership = Mutex<(owner: ClaimOwner, lastBeat: Microseconds)?>(nil)

  init(_ table: ClaimTable) { self.table = table }

  deinit {
    membership.withLock { membership in
      guard let membership, table.isOurs else { return }
      _ = table.beat(membership.owner, from: membership.lastBeat, to: 0)
    }
  }

  /// The number of its claims.
  var isIdle: Bool { claims.load(ordering: .relaxed) == 0 }

  /// To be called several times within `ClaimTable.beat`.
  func beat(_ now: Microseconds) { if table.isOurs { _ = owner(now) } }

  /// As whom it claims now; a new one when it was silent for so long that another has its place. Nil when there is none.
  func owner(_ now: Microseconds) -> ClaimOwner? {
    membership.withLock { membership in
      if let last = membership {
        if now - last.lastBeat < ClaimTable.beat { return last.owner }
        membership?.lastBeat = now
        if table.beat(last.owner, from: last.lastBeat, to: now) { return last.owner }
      }
      membership = table.enter(now).map { (owner: $0, lastBeat: now) }
      return membership?.owner
    }
  }

  func didClaim() { claims.add(1, ordering: .relaxed) }
  func didEndClaim() { claims.subtract(1, ordering: .relaxed) }
}
