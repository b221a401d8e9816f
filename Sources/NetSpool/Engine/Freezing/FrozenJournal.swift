/// The changes of a store that are still to be written, on the thread that decides about its requests.
///
/// A commit waits for the disk, and what comes meanwhile shares the next one: so one change on an idle store is
/// written at once, and under load hundreds share a sync. That an outcome was taken waits a little for company, as the
/// next outcome of its lane would otherwise wait for a commit of that alone.
struct FrozenJournal {
  private struct Entry {
    let change: FrozenChange
    /// Nil for a change whose answer says nothing to the spool.
    let subject: FrozenNotice.Subject?
  }

  private let store: FrozenStore
  private let now: () -> ClockMoment
  private var waiting = FIFO<Entry>()
  /// How many of them cannot wait.
  private var urgent = 0
  /// All that waits is written by then, the earliest first.
  private var patientUntil = Microseconds.max
  /// What a full disk kept from being written.
  private var held: [Entry] = []
  private var retriesAt: Microseconds = .max
  private var sweepsAt: Microseconds = MonotonicClock.now

  private static let patience: Microseconds = 5_000
  private static let batchMax = 256
  private static let batchBytesMax = 8 << 20

  init(_ store: FrozenStore, now: @escaping () -> ClockMoment) { (self.store, self.now) = (store, now) }

  /// Something waits for the disk to take it again.
  var isHolding: Bool { !held.isEmpty }

  var isWaiting: Bool { !waiting.isEmpty }

  /// When `write` has something to do, by `MonotonicClock`.
  var due: Microseconds { urgent > 0 ? 0 : min(patientUntil, retriesAt, sweepsAt) }

  mutating func append(_ change: FrozenChange, _ subject: FrozenNotice.Subject? = nil) {
    // The end of an equal request may be among what the disk has no room for: until then that one is there. What comes later
    // must not overtake it in its lane.
    if isHolding, change.isAcceptance { return held.append(Entry(change: change, subject: subject)) }
    waiting.append(Entry(change: change, subject: subject))
    if !change.isPatient { urgent += 1 }
    patientUntil = min(patientUntil, MonotonicClock.now + Self.patience)
  }

  // MARK: Writing

  /// Writes what is due, as much as one commit takes, and waits for the disk. Nothing is done before it is due.
  mutating func write() -> [FrozenNotice] {
    let now = MonotonicClock.now
    if sweepsAt <= now {
      sweepsAt = now + store.settings.sweepPeriod
      append(.sweep(self.now()), .sweep)
      store.core.environment.clearDeadReaders()
    }
    var notices: [FrozenNotice] = []
    if urgent > 0 || patientUntil <= now { notices = writeBatch() }
    if retriesAt <= now { notices += writeHeld() }
    return notices
  }

  /// The same, due or not.
  mutating func writeBatch() -> [FrozenNotice] {
    var batch: [Entry] = []
    var bytes = 0
    while batch.count < Self.batchMax, bytes < Self.batchBytesMax, let entry = waiting.popFirst() {
      bytes += entry.change.bytes
      if !entry.change.isPatient { urgent -= 1 }
      batch.append(entry)
    }
    if waiting.isEmpty { patientUntil = .max }
    return commit(batch)
  }

  private mutating func writeHeld() -> [FrozenNotice] {
    let again = held
    held = []
    retriesAt = .max
    return commit(again)
  }

  private mutating func commit(_ entries: [Entry]) -> [FrozenNotice] {
    if entries.isEmpty { return [] }
    let answers = store.commit(entries.map(\.change))
    var notices: [FrozenNotice] = []
    for (index, answer) in answers.enumerated() {
      guard let answer else {
        held.append(entries[index])
        continue
      }
      if case .success(let receipt) = answer, receipt.hasLeftSome { sweepsAt = MonotonicClock.now }
      // Of the entry no more than that: the change is large.
      if let subject = entries[index].subject {
        notices.append(FrozenNotice(subject: subject, result: answer))
      }
    }
    if isHolding { retriesAt = MonotonicClock.now + store.settings.retryPeriod }
    return notices
  }

  /// Before the store closes: what a full disk keeps is tried once more, and refused then.
  mutating func writeLast() -> [FrozenNotice] {
    let notices = writeHeld()
    let failure = NetworkError(.storageFull, reason: "closing")
    defer { held = [] }
    return notices + held.compactMap(\.subject).map { FrozenNotice(subject: $0, result: .failure(failure)) }
  }
}

/// The store's answer to a change of the spool's; `FrozenSpool.take` understands it.
struct FrozenNotice {
  enum Subject {
    case step(FrozenID)
    case sweep
    /// Called with the spool and the answer.
    case caller((FrozenSpool, FrozenAnswer) -> Void)
  }

  let subject: Subject
  let result: FrozenAnswer
}
