internal import Synchronization

/// The stored answers that were found last, by URL. Who asks for one of them again, and brings nothing but the URL, is spared
/// the search: the URL need not be looked at, no key be made, nothing be decoded.
///
/// Any thread. An answer here is worth nothing by itself: the store says whether it still stands where it stood, and does
/// not after any commit, whoever's, nor while a change of it waits (`CacheStore.lookup(_:again:)`).
final class RecentAnswers: Sendable {
  final class Answer: Sendable {
    let url: String
    let key: StoreKey
    let stored: StoredResponse
    let place: StoredPosition

    /// Its fields as they were served last, and the age that they say.
    private let served = Mutex<(age: Int64, headers: Headers)>((-1, Headers()))

    fileprivate let hash: UInt64
    fileprivate var bytes: Int { 2 * stored.headers.block.count + key.fullKey.count + 512 }

    /// The fields to serve it with; whoever asks within the same second gets the same.
    func servedHeaders(age: Int64) -> Headers {
      served.withLock { served in
        if served.age != age { served = (age, stored.servedHeaders(age: age)) }
        return served.headers
      }
    }

    init(url: String, key: StoreKey, stored: StoredResponse, place: StoredPosition) {
      hash = RecentAnswers.hash(of: url)
      self.url = url
      self.key = key
      self.stored = stored
      self.place = place
    }
  }

  private struct State {
    /// Some for each remainder of the hash, the newest first: one more takes the place of the oldest. With one for each, URLs
    /// that share it would drive each other out, and a loop would have to have them looked for each time.
    var slots: [Answer?] = []
    /// The hashes of their URLs, so that the answers themselves are hardly looked at in vain.
    var hashes: [UInt64] = []
    var bytes = 0

    init(slots count: Int = 0) {
      slots = Array(repeating: nil, count: count)
      hashes = Array(repeating: 0, count: count)
    }

    /// Where the answer for a URL stands.
    func place(of url: String, _ hash: UInt64, from first: Int) -> Int? {
      guard !slots.isEmpty else { return nil }
      for slot in first..<first + RecentAnswers.slotsEach
      where hashes[slot] == hash && slots[slot]?.url == url { return slot }
      return nil
    }
  }

  private let state = Mutex(State())
  private static let slotsMax = 1 << 12
  private static let slotsEach = 4
  /// Of all of them; with more, it begins anew.
  private static let bytesMax = 3 << 19

  subscript(url: String) -> Answer? {
    let hash = Self.hash(of: url)
    return state.withLock { state in
      state.place(of: url, hash, from: Self.firstSlot(hash)).flatMap { state.slots[$0] }
    }
  }

  func keep(_ answer: Answer) {
    let first = Self.firstSlot(answer.hash)
    state.withLock { state in
      if state.slots.isEmpty || state.bytes + answer.bytes > Self.bytesMax {
        state = State(slots: Self.slotsMax)
      }
      let place = state.place(of: answer.url, answer.hash, from: first) ?? first + Self.slotsEach - 1
      state.bytes += answer.bytes - (state.slots[place]?.bytes ?? 0)
      for slot in (first..<place).reversed() {
        state.slots.swapAt(slot, slot + 1)
        state.hashes.swapAt(slot, slot + 1)
      }
      state.slots[first] = answer
      state.hashes[first] = answer.hash
    }
  }

  private static func hash(of url: String) -> UInt64 {
    var hash = KeyHash(seed: 0)
    hash.add(url.utf8.span)
    return hash.value
  }

  private static func firstSlot(_ hash: UInt64) -> Int {
    Int(truncatingIfNeeded: hash) & (slotsMax - 1) & ~(slotsEach - 1)
  }
}
