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
    let place: StoredPlace

    fileprivate var bytes: Int { stored.headers.block.count + key.fullKey.count + 512 }

    init(url: String, key: StoreKey, stored: StoredResponse, place: StoredPlace) {
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
    var bytes = 0

    /// Where the answer for a URL stands.
    func place(of url: String, from first: Int) -> Int? {
      slots.isEmpty ? nil : (first..<first + RecentAnswers.slotsEach).first { slots[$0]?.url == url }
    }
  }

  private let state = Mutex(State())
  private static let slotsMax = 1 << 12
  private static let slotsEach = 4
  /// Of all of them; with more, it begins anew.
  private static let bytesMax = 1 << 20

  subscript(url: String) -> Answer? {
    let first = Self.firstSlot(of: url)
    return state.withLock { state in state.place(of: url, from: first).flatMap { state.slots[$0] } }
  }

  func keep(_ answer: Answer) {
    let first = Self.firstSlot(of: answer.url)
    state.withLock { state in
      if state.slots.isEmpty || state.bytes + answer.bytes > Self.bytesMax {
        state = State(slots: Array(repeating: nil, count: Self.slotsMax))
      }
      let place = state.place(of: answer.url, from: first) ?? first + Self.slotsEach - 1
      state.bytes += answer.bytes - (state.slots[place]?.bytes ?? 0)
      for slot in (first..<place).reversed() { state.slots.swapAt(slot, slot + 1) }
      state.slots[first] = answer
    }
  }

  private static func firstSlot(of url: String) -> Int {
    var hash = KeyHash(seed: 0)
    hash.add(url.utf8.span)
    return Int(truncatingIfNeeded: hash.value) & (slotsMax - 1) & ~(slotsEach - 1)
  }
}
