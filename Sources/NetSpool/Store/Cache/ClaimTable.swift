// The shared memory `claims` of a store: words of 64 bits in the byte order of the machine.
//
//    0            mark of the layout
//    8 +  2 n     of owner n (`Claimant`): counts who it was
//    9 +  2 n     the same: microseconds of the machine's own clock when it was last alive; 0: nobody
//  520 +  8 n     bucket n, eight claims in any order (`ClaimWord`); which bucket the digest of the key says

/// The table of who asks the origin for what, among all processes that have a store open: in memory that they share, so that a claim
/// costs no commit and no thread. What is lost of it, or wrong in it, costs a request or a second, and nothing else.
///
/// Any thread; never waits.
final class ClaimTable: Sendable {
  /// Of shared memory.
  static let kind = "claims"
  static let wordCount = bucketsStart + bucketCount * bucketWords
  /// The interval at which an owner says that it is alive.
  static let beat: Microseconds = 250_000

  private static let layout: UInt64 = 0x0001_6C63_6C6F_6F70
  private static let ownersStart = 8
  private static let ownerCount = 256
  private static let bucketsStart = ownersStart + 2 * ownerCount
  private static let bucketCount = 4_096
  private static let bucketWords = 8
  /// How often a claim is tried where others claim at the same moment.
  private static let triesMax = 8

  private let words: SharedWords
  /// An owner that has been silent for longer is dead or stopped, and its claims are void.
  private let silenceMax: Microseconds
  private let generation = ForkGuard.begin()

  /// Nil when it is of another layout.
  init?(_ words: SharedWords, silenceMax: Microseconds) {
    _ = words.exchange(0, for: Self.layout, at: 0)
    guard words[0] == Self.layout, words.count >= Self.wordCount else { return nil }
    self.words = words
    self.silenceMax = silenceMax
  }

  /// The last process that does so removes it.
  func letGo() { words.letGo() }

  /// False in a child of fork(2), whose claims these are not.
  var isOurs: Bool { ForkGuard.generation == generation }

  enum Answer {
    /// - isNews: another has asked meanwhile, so that its answer may be in the store.
    case claimed(Claim, isNews: Bool)
    case taken
    /// Waiting would be no use, or is not possible.
    case unneeded
  }

  /// The claim to ask the origin for what a key stands for.
  enum State {
    case free
    case taken
    /// The process that claimed it is dead or stopped.
    case void
    /// A claimant has asked, and what came of it is in the store or nowhere.
    case done
    /// What the origin says cannot be stored.
    case uncacheable
  }

  func state(of key: KeyDigest) -> State { find(ClaimKey(key), MonotonicClock.now).state }

  func claim(_ key: KeyDigest, for claimant: Claimant) -> Answer {
    let now = MonotonicClock.now
    guard isOurs, let owner = claimant.owner(now) else { return .unneeded }
    let place = ClaimKey(key)
    for _ in 0..<Self.triesMax {
      let found = find(place, now)
      switch found.state {
      case .taken: return found.word.owner == owner ? .unneeded : .taken
      case .uncacheable: return .unneeded
      case .free, .void, .done: break
      }
      guard let index = found.index else { return .unneeded }
      let word = ClaimWord(.claim, place.tag, owner, now)
      guard words.exchange(found.word.bits, for: word.bits, at: index) else { continue }
      if isTaken(place, besides: index, now) {
        // By two at the same moment: neither knows who was first, and the next look decides.
        _ = words.exchange(word.bits, for: 0, at: index)
        return .taken
      }
      claimant.didClaim()
      return .claimed(Claim(self, claimant, index, word), isNews: found.isNews(for: owner))
    }
    return .unneeded
  }

  func end(_ claim: ClaimWord, at index: Int, as kind: ClaimWord.Kind) {
    guard isOurs else { return }
    let word = kind == .none ? 0 : ClaimWord(kind, claim.tag, claim.owner, MonotonicClock.now).bits
    _ = words.exchange(claim.bits, for: word, at: index)
  }
}

// MARK: Claims

extension ClaimTable {
  /// What a bucket says of a place, and which of its words a claim would take.
  private struct Found {
    var state = State.free
    var index: Int?
    var word = ClaimWord(bits: 0)

    /// Another claimant has asked before, and may have stored the answer.
    func isNews(for owner: ClaimOwner) -> Bool { (state == .done || state == .void) && word.owner != owner }
  }

  private func find(_ place: ClaimKey, _ now: Microseconds) -> Found {
    var (found, oldest) = (Found(), -1)
    for index in indices(of: place) {
      let word = ClaimWord(bits: words[index])
      let state = state(of: word, now)
      if state != .free, word.tag == place.tag {
        if state == .taken { return Found(state: .taken, index: index, word: word) }
        found = Found(state: state, index: index, word: word)
        oldest = .max
      } else if state != .taken {
        // The oldest of what is over goes; what is empty, before.
        let age = state == .free ? Int.max : word.age(now)
        if age > oldest { (found.index, found.word, oldest) = (index, word, age) }
      }
    }
    return found
  }

  private func indices(of place: ClaimKey) -> Range<Int> {
    let start = Self.bucketsStart + Int(place.bucket % UInt64(Self.bucketCount)) * Self.bucketWords
    return start..<start + Self.bucketWords
  }

  private func isTaken(_ place: ClaimKey, besides own: Int, _ now: Microseconds) -> Bool {
    indices(of: place).contains { index in
      let word = ClaimWord(bits: words[index])
      return index != own && word.tag == place.tag && state(of: word, now) == .taken
    }
  }

  private func state(of word: ClaimWord, _ now: Microseconds) -> State {
    switch word.kind {
    case .none: .free
    case .claim: isAlive(word.owner, now) ? .taken : .void
    case .done: .done
    case .uncacheable: word.age(now) <= ClaimWord.uncacheableAge ? .uncacheable : .done
    }
  }
}

// MARK: Owners

extension ClaimTable {
  private func isAlive(_ owner: ClaimOwner, _ now: Microseconds) -> Bool {
    let index = Self.ownersStart + 2 * owner.slot
    guard words[index] & ClaimOwner.generationMask == owner.generation else { return false }
    return !isSilent(words[index + 1], for: silenceMax, now)
  }

  /// True if a moment is long ago; one of the future comes from before the machine was started.
  private func isSilent(_ moment: UInt64, for time: Microseconds, _ now: Microseconds) -> Bool {
    let (moment, now) = (moment, UInt64(now))
    // Another may have looked at the clock a little later.
    return moment == 0 || moment > now + UInt64(silenceMax) || moment + UInt64(time) < now
  }

  /// Takes the place of one that left, or has been silent for long; nil when there is none.
  func enter(_ now: Microseconds) -> ClaimOwner? {
    let start = Int.random(in: 0..<Self.ownerCount)
    for offset in 0..<Self.ownerCount {
      let slot = (start + offset) % Self.ownerCount
      let index = Self.ownersStart + 2 * slot
      let last = words[index + 1]
      guard isSilent(last, for: 10 * silenceMax, now),
        words.exchange(last, for: UInt64(now), at: index + 1)
      else { continue }
      return ClaimOwner(slot: slot, generation: words.increment(at: index) & ClaimOwner.generationMask)
    }
    return nil
  }

  /// False when another has taken its place, as it was silent for too long.
  func beat(_ owner: ClaimOwner, from last: Microseconds, to now: Microseconds) -> Bool {
    words.exchange(UInt64(last), for: UInt64(now), at: Self.ownersStart + 2 * owner.slot + 1)
  }
}
