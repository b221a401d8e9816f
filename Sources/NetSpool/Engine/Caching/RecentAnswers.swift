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

    init(url: String, key: StoreKey, stored: StoredResponse, place: StoredPlace) {
      self.url = url
      self.key = key
      self.stored = stored
      self.place = place
    }
  }

  private struct State {
    /// One for each remainder of the hash: a newer one takes the place of an older one.
    var slots: [Answer?] = []
    var bytes = 0
  }

  private let state = Mutex(State())
  private static let slotsMax = 1 << 12
  /// Of all of them; with more, it begins anew.
  private static let bytesMax = 1 << 20

  subscript(url: String) -> Answer? {
    let slot = Self.slot(of: url)
    return state.withLock { state in
      guard !state.slots.isEmpty, let answer = state.slots[slot], answer.url == url else { return nil }
      return answer
    }
  }

  func keep(_ answer: Answer) {
    let slot = Self.slot(of: answer.url)
    let bytes = answer.stored.headers.block.count + answer.key.fullKey.count + 512
    state.withLock { state in
      state.bytes += bytes
      if state.slots.isEmpty || state.bytes > Self.bytesMax {
        state = State(slots: Array(repeating: nil, count: Self.slotsMax), bytes: bytes)
      }
      state.slots[slot] = answer
    }
  }

  private static func slot(of url: String) -> Int {
    var hash = KeyHash(seed: 0)
    hash.add(url.utf8.span)
    return Int(truncatingIfNeeded: hash.value) & (slotsMax - 1)
  }
}
