#if DEBUG
/// What was promised, held against what came of it, when nothing waits any more.
struct KillCheck {
  struct Counts {
    var accepted = 0
    var arrivals = 0
    /// Arrivals of what had arrived before: right when key and bytes are the same.
    var duplicates = 0
    /// Told to more than one process.
    var repeated = 0
    var lost = 0
    var secondKeys = 0
    var wrongBytes = 0
    var effects = 0
    var order = 0
    var double = 0
    var store = 0

    var broken: Int { lost + secondKeys + wrongBytes + effects + order + double + store }
  }

  private(set) var counts = Counts()
  /// The first few of each kind, in words.
  private(set) var faults: [String] = []

  mutating func look(
    _ truth: KillTruth, _ arrivals: [JournalingOrigin.Arrival], effect: (String) -> String?
  ) {
    let accepted = truth.promises.filter { !$0.value.key.isEmpty }
    counts.accepted += accepted.count
    counts.arrivals += arrivals.count
    counts.repeated += truth.promises.values.count { $0.outcomes.count > 1 }
    for word in truth.wrongWords { fault(\.double, word) }
    for (id, promise) in accepted { lookAtEnd(id, promise, effect) }
    lookAtBytes(arrivals, Dictionary(accepted.values.map { ($0.key, $0.digest) }) { first, _ in first })
    lookAtOrder(arrivals, truth.revived)
  }

  /// Of the store, or of the process.
  mutating func note(_ text: String) { fault(\.store, text) }

  private mutating func lookAtEnd(_ id: UInt64, _ promise: KillTruth.Promise, _ effect: (String) -> String?) {
    if promise.outcomes.isEmpty {
      fault(\.lost, "\(id) was accepted, and \(promise.isDead ? "dead" : "lost")")
    }
    if promise.outcomes.contains(where: { $0 != 200 }) {
      fault(\.lost, "\(id) ended with \(promise.outcomes)")
    }
    if !promise.outcomes.isEmpty, effect(promise.key) != promise.digest {
      fault(\.effects, "\(id) has an outcome and had no effect")
    }
  }

  private mutating func lookAtBytes(_ arrivals: [JournalingOrigin.Arrival], _ promised: [String: String]) {
    var keys: [String: String] = [:]
    var digests: [String: String] = [:]
    for arrival in arrivals {
      if keys[arrival.path] != nil { counts.duplicates += 1 }
      if keys[arrival.path, default: arrival.key] != arrival.key {
        fault(\.secondKeys, "\(arrival.path) came with two keys")
      }
      if digests[arrival.key, default: arrival.digest] != arrival.digest {
        fault(\.wrongBytes, "\(arrival.path) came in two versions")
      }
      if promised[arrival.key, default: arrival.digest] != arrival.digest {
        fault(\.wrongBytes, "\(arrival.path) is not what was accepted")
      }
      keys[arrival.path] = arrival.key
      digests[arrival.key] = arrival.digest
    }
  }

  /// In a lane with order nothing comes, first or again, once a later one has come.
  private mutating func lookAtOrder(_ arrivals: [JournalingOrigin.Arrival], _ revived: Set<String>) {
    var latest: [String: CrashPlace] = [:]
    for arrival in arrivals where !revived.contains(arrival.path) {
      guard let place = CrashPlace(path: arrival.path[...]) else { continue }
      if let last = latest[place.lane], place < last {
        fault(\.order, "\(arrival.path) came after \(last.worker)/\(last.serial)")
      } else {
        latest[place.lane] = place
      }
    }
  }

  private mutating func fault(_ kind: WritableKeyPath<Counts, Int>, _ text: String) {
    counts[keyPath: kind] += 1
    if faults.count < 20 { faults.append(text) }
  }
}
#endif
