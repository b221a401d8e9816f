#if DEBUG
@testable import NetSpool

/// Opens what the power loss left, and holds it against what was promised.
struct PowerCheck {
  let truth: PowerTruth
  private(set) var faults: [String] = []

  init(_ truth: PowerTruth) { self.truth = truth }

  mutating func run(_ directory: String) {
    var settings = FrozenStoreSettings(directory: directory)
    settings.bytesMax = 64 << 20
    settings.keptMax = 1 << 60
    do {
      let store = try FrozenStore.open(settings)
      defer { store.close() }
      try check(store)
    } catch {
      faults.append("does not open: \(error)")
    }
  }

  private mutating func check(_ store: FrozenStore) throws {
    // A file that was just being made may be half there, and is made again.
    if case .damaged(_, let why) = store.opening.found, !truth.promises.isEmpty {
      faults.append("damaged: \(why)")
    }
    if !store.damaged.isEmpty { faults.append("damaged rows: \(store.damaged)") }
    let seen = try FrozenTablesSeen(store)
    if !seen.isConsistent { faults.append("the tables do not hold the same requests") }
    checkPlaces(seen)
    checkKeys(try keys(store))
    try checkContent(store)
  }

  /// Each is in exactly one place.
  private mutating func checkPlaces(_ seen: FrozenTablesSeen) {
    for (number, promise) in truth.promises {
      let places = [seen.rec, seen.outbox, seen.dead].count { $0.contains(number) }
      if places > 1 || places == 0 && !promise.mayBeGone { faults.append("\(number) is in \(places) places") }
      if promise.isFinished, !seen.outbox.contains(number), !promise.mayBeGone {
        faults.append("the outcome of \(number) is lost")
      }
      if promise.isDead, seen.rec.contains(number) { faults.append("\(number) was dead and waits") }
    }
  }

  /// What each is known by, wherever it is.
  private func keys(_ store: FrozenStore) throws -> [UInt64: String] {
    let now = ClockMoment(wall: WallClock.microseconds, monotonic: MonotonicClock.now)
    var keys: [UInt64: String] = [:]
    try store.scan { number, _, payload in
      keys[number] = FrozenRecord(decoding: payload, at: now)?.request.key.text ?? "unreadable"
      return true
    }
    for (number, ending) in try store.endings(.outcomes) {
      keys[number] = FrozenOutcome(decoding: ending.payload.rawBytes)?.key ?? "unreadable"
    }
    for (number, ending) in try store.endings(.deadLetters) {
      keys[number] = DeadLetter(ending, at: now)?.record?.request.key.text ?? "unreadable"
    }
    return keys
  }

  private mutating func checkKeys(_ keys: [UInt64: String]) {
    if Set(keys.values).count != keys.count { faults.append("two requests with one key") }
    for (number, key) in keys where truth.promises[number]?.key.map({ $0 != key }) ?? false {
      faults.append("\(number) has another key")
    }
  }

  /// An attempt reads the body, so the store is asked for one of each.
  private mutating func checkContent(_ store: FrozenStore) throws {
    let now = ClockMoment(wall: WallClock.microseconds, monotonic: MonotonicClock.now)
    var waiting: [(UInt64, FrozenRecord, [UInt8])] = []
    try store.scan { number, _, payload in
      if let record = FrozenRecord(decoding: payload, at: now) {
        waiting.append((number, record, record.encode(at: now)))
      }
      return true
    }
    let answers = store.commit(waiting.map { .attempt($0.0, payload: $0.2) })
    for ((number, record, _), answer) in zip(waiting, answers) {
      guard case .success(let receipt) = answer else {
        faults.append("\(number) has no body")
        continue
      }
      let digest = FrozenContent.digest(
        method: record.request.method.name, url: record.request.url, body: receipt.body)
      if let promised = truth.promises[number]?.digest, promised != digest {
        faults.append("\(number) is not what was accepted")
      }
    }
  }
}
#endif
