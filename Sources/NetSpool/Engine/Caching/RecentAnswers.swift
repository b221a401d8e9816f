internal import Synchronization

/// The stored answers that were found last, by URL. A request that asks for one of them again, and brings nothing but the URL,
/// is spared the search: the URL need not be looked at, no key be made, nothing be decoded.
///
/// Any thread. An answer here is worth nothing by itself: the store says whether it still stands where it stood, and does
/// not after a commit by any process, nor while a change of it waits (`CacheStore.lookup(_:again:_:)`).
final class RecentAnswers: Sendable {
  final class Answer: Sendable {
    let url: String
    let key: StoreKey
    let stored: StoredResponse
    let place: StoredPlace
    /// Nil where it is read again each time.
    let body: ResponseBytes?

    /// As it was served last, with what is kept of its body, and the age that it says.
    private let served = Mutex<(age: Int64, response: NetworkResponse)?>(nil)

    fileprivate let hash: UInt64
    fileprivate var bytes: Int { 2 * stored.headers.block.count + key.fullKey.count + 768 }

    /// As it is served; all requests within the same second share what does not have to be read.
    ///
    /// - Parameter readBody: where it is not kept. Nil: it cannot be had.
    func response(at now: Int64, _ readBody: () -> ResponseBytes?) -> NetworkResponse? {
      let age = stored.age(at: now)
      var response = served.withLock { served in
        if let served, served.age == age { return served.response }
        let headers = stored.servedHeaders(age: age)
        let response = NetworkResponse(
          stored, headers, body ?? .empty, from: .cache, url: url, age: age, isStale: false)
        served = (age, response)
        return response
      }
      if body == nil {
        guard let body = readBody() else { return nil }
        response.body = body
      }
      return response
    }

    fileprivate init(
      _ url: String, _ key: StoreKey, _ stored: StoredResponse, _ place: StoredPlace, _ body: ResponseBytes?
    ) {
      hash = RecentAnswers.hash(of: url)
      (self.url, self.key, self.stored, self.place, self.body) = (url, key, stored, place, body)
    }
  }

  /// The hash beside it, so that an answer itself is hardly looked at in vain.
  private struct Slot {
    var hash: UInt64 = 0
    var answer: Answer?
  }

  private struct State {
    /// Some for each remainder of the hash, the newest first: one more takes the place of the oldest. With one for each, URLs
    /// that share it would drive each other out, and a loop would have to have them looked for each time.
    var slots: [Slot] = []
    var count = 0
    var bytes = 0
    /// Of bodies in memory, and an eighth of those of files.
    var bodyBytes = 0

    init() {}

    init(slots number: Int, _ before: [Slot] = []) {
      slots = Array(repeating: Slot(), count: number)
      // The oldest first: among those that share a remainder, they come last.
      for slot in before.reversed() {
        if let answer = slot.answer { keep(answer) }
      }
    }

    private static let slotsEach = 4

    private func firstSlot(_ hash: UInt64) -> Int {
      Int(truncatingIfNeeded: hash) & (slots.count - 1) & ~(Self.slotsEach - 1)
    }

    /// Where the answer for a URL stands.
    func place(of url: String, _ hash: UInt64) -> Int? {
      guard !slots.isEmpty else { return nil }
      let first = firstSlot(hash)
      return (first..<first + Self.slotsEach).first { slots[$0].hash == hash && slots[$0].answer?.url == url }
    }

    mutating func keep(_ answer: Answer) {
      let first = firstSlot(answer.hash)
      let place = place(of: answer.url, answer.hash) ?? first + Self.slotsEach - 1
      if let before = slots[place].answer {
        bytes -= before.bytes
        bodyBytes -= before.body?.weight ?? 0
      } else {
        count += 1
      }
      bytes += answer.bytes
      bodyBytes += answer.body?.weight ?? 0
      for slot in (first..<place).reversed() { slots.swapAt(slot, slot + 1) }
      slots[first] = Slot(hash: answer.hash, answer: answer)
    }
  }

  /// By the hash: threads that ask for different URLs seldom meet.
  private let parts = InlineArray<16, BusyMutex<State>> { _ in BusyMutex(State()) }
  /// Of all parts.
  private let bodyBytes = Atomic(0)
  /// Of all of them, and once more of bodies; a part with more than its share begins anew, and with more bodies, these are read
  /// again.
  private let bytesMax: Int
  private static let slotsAtFirst = 1 << 6

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  subscript(url: String) -> Answer? {
    let hash = Self.hash(of: url)
    return parts[part(of: hash)].withLock { state in
      state.place(of: url, hash).flatMap { state.slots[$0].answer }
    }
  }

  private func part(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 32) & (parts.count - 1) }

  func keep(
    _ url: String, _ key: StoreKey, _ stored: StoredResponse, _ place: StoredPlace, _ body: ResponseBytes
  ) {
    let hasRoom = bodyBytes.load(ordering: .relaxed) + body.weight <= bytesMax
    let answer = Answer(url, key, stored, place, hasRoom ? body : nil)
    let share = bytesMax / parts.count
    guard answer.bytes <= share else { return }
    change(part(of: answer.hash)) { state, before in
      if state.bytes + answer.bytes > share { swap(&state, &before) }
      // At most one for each remainder on average, so that few share theirs with four others.
      if state.slots.isEmpty {
        state = State(slots: Self.slotsAtFirst)
      } else if state.count >= state.slots.count / 4 {
        state = State(slots: 2 * state.slots.count, state.slots)
      }
      state.keep(answer)
    }
  }

  /// What was removed is not to stay in memory, nor its file on the disk.
  func forget() { for part in 0..<parts.count { change(part) { swap(&$0, &$1) } } }

  /// - Parameter body: may leave what there was in the second, to be let go of behind the lock.
  private func change(_ part: Int, _ body: (inout State, inout State) -> Void) {
    var before = State()
    let added = parts[part].withLock { state in
      let bodies = state.bodyBytes
      body(&state, &before)
      return state.bodyBytes - bodies
    }
    bodyBytes.add(added, ordering: .relaxed)
  }

  private static func hash(of url: String) -> UInt64 {
    var hash = KeyHash(seed: 0)
    hash.add(url.utf8.span)
    return hash.value
  }
}

extension ResponseBytes {
  /// What it counts for as long as it is kept. Of a file that was removed, the blocks.
  fileprivate var weight: Int { isInMemory ? count : count / 8 }
}
