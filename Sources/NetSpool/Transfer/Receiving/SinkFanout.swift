/// Hands each read from the network to N sinks.
///
/// A sink that takes less than it is offered keeps its place in its own backlog; when a backlog is full the
/// transfer pauses, so a slow sink costs bounded memory and slows this transfer only.
final class SinkFanout {
  /// What one sink may be behind before the transfer pauses: 512 KiB, so with the piece that tipped it
  /// under 1 MiB.
  static let backlogBytesMax = 512 << 10

  private var branches: [SinkBranch] = []
  private var ending: (failure: NetworkError?, done: () -> Void)?
  private var seen = Progress()

  /// No backlog is full any more: a paused transfer may go on.
  var onRoom: () -> Void = {}

  /// Ids are the caller's, to tell whose sink it is. A sink that fails has been ended when `onFailure`
  /// hears of it, perhaps in the middle of libcurl's work: it may only take note.
  func add(_ sink: any Sink, id: UInt64, onFailure: @escaping (SinkFailure) -> Void) {
    branches.append(SinkBranch(sink, id: id, onFailure: onFailure))
  }

  func reports(of id: UInt64) -> [NetworkResponse.StreamReport] {
    branches.filter { $0.id == id }.map(\.report)
  }

  var isFollowed: Bool { branches.contains { !$0.isEnded && $0.sink.isFollowed } }

  /// None of the owner's sinks is left.
  func hasLostAll(of id: UInt64) -> Bool { branches.allSatisfy { $0.id != id || $0.failure != nil } }

  func open(_ head: ResponseHead, bytesExpected: Int64?, only id: UInt64? = nil) {
    for branch in branches where !branch.isFinishing && (id == nil || branch.id == id) {
      guarding(branch) { branch throws(SinkFailure) in
        try branch.open(head, bytesExpected: bytesExpected, ready: whenReady(branch))
      }
    }
  }

  /// True when no more should come until `onRoom`.
  var isCongested: Bool { branches.contains { $0.backlogBytes >= Self.backlogBytesMax } }

  /// The same, and not for the spool alone, which belongs to no operation and gives up by itself.
  var waitsForOwner: Bool { branches.contains { $0.id != 0 && $0.backlogBytes >= Self.backlogBytesMax } }

  func write(_ bytes: RawSpan, only id: UInt64? = nil) {
    for branch in branches where !branch.isFinishing && (id == nil || branch.id == id) {
      do { try branch.write(bytes) } catch { fail(branch, error) }
    }
  }

  /// Ends the sinks of one owner without publishing. The others do not wait for them: a disk that hangs is the owner's.
  func abandon(_ id: UInt64, _ failure: NetworkError) {
    let wasCongested = isCongested
    for branch in branches where branch.id == id {
      branch.isLeft = true
      if !branch.isFinishing { try? branch.finish(failure) }
    }
    if wasCongested && !isCongested { onRoom() }  // the others waited for it
    endIfOver()
  }

  /// Publishes all, or abandons all, and calls `done` when the last one is over; perhaps at once.
  func finish(_ failure: NetworkError?, done: @escaping () -> Void) {
    precondition(ending == nil, "NetSpool: a fan-out ends once")
    ending = (failure, done)
    for branch in branches {
      if !branch.isOpen { branch.sink.forgo(ready: whenReady(branch)) }
      advance(branch)
    }
    endIfOver()
  }

  private func whenReady(_ branch: SinkBranch) -> () -> Void {
    { [weak self, unowned branch] in self?.ready(branch) }
  }

  private func ready(_ branch: SinkBranch) {
    let wasCongested = isCongested
    advance(branch)
    if wasCongested && !isCongested { onRoom() }
    endIfOver()
  }

  /// Moves a branch as far as it goes: the backlog first, then the end.
  private func advance(_ branch: SinkBranch) {
    guard !branch.isEnded else { return }
    let ending = ending
    guarding(branch) { branch throws(SinkFailure) in
      if branch.isFinishing { return try branch.goOnFinishing() }
      if ending?.failure == nil, try !branch.flush() { return }
      if let ending { try branch.finish(ending.failure) }
    }
  }

  private func endIfOver() {
    guard let ending, branches.allSatisfy({ $0.isEnded || $0.isLeft }) else { return }
    self.ending = (ending.failure, {})
    ending.done()
  }

  private func guarding(_ branch: SinkBranch, _ body: (SinkBranch) throws(SinkFailure) -> Void) {
    do { try body(branch) } catch { fail(branch, error) }
  }

  private func fail(_ branch: SinkBranch, _ failure: SinkFailure) {
    if !branch.isFinishing { try? branch.finish(NetworkError(failure, code: .sinkFailed)) }
    branch.failure = failure
    branch.onFailure(failure)
  }

  // MARK: What holds it up

  /// How far something had come, and since when it has been there.
  struct Progress {
    private var count: Int64 = -1
    private var since: Microseconds = 0

    /// Returns how long it has stood still.
    mutating func look(_ count: Int64, now: Microseconds) -> Microseconds {
      if count != self.count { (self.count, since) = (count, now) }
      return now - since
    }
  }

  /// From now on it counts how long sinks have stood still.
  func beginWatch() {
    seen = Progress()
    for branch in branches { branch.seen = Progress() }
  }

  /// The time that none of the sinks has got on. Asked again and again while they are waited for.
  func standstill(now: Microseconds) -> Microseconds {
    seen.look(branches.reduce(0) { $0 + $1.sink.progress }, now: now)
  }

  /// The sinks of one owner that the others, or the ending, wait for: each with its number among the owner's and how long it
  /// has not got on.
  func delays(by id: UInt64, now: Microseconds) -> [(number: Int, waitsForReader: Bool, time: Microseconds)] {
    branches.filter { $0.id == id }.enumerated().compactMap { number, branch in
      let time = branch.seen.look(branch.sink.progress, now: now)
      guard !branch.isEnded, ending != nil || branch.backlogBytes >= Self.backlogBytesMax else { return nil }
      return (number, branch.sink.waitsForReader, time)
    }
  }
}

/// A sink of a fan-out, and what it is behind.
final class SinkBranch {
  let id: UInt64
  fileprivate let sink: any Sink
  private var backlog: [UInt8] = []
  private var taken = 0
  private(set) var isOpen = false
  private(set) var isEnded = false
  private(set) var isFinishing = false
  private var refusal: NetworkError?
  fileprivate var seen = SinkFanout.Progress()
  /// Its owner has gone.
  var isLeft = false
  let onFailure: (SinkFailure) -> Void

  init(_ sink: any Sink, id: UInt64, onFailure: @escaping (SinkFailure) -> Void) {
    self.sink = sink
    self.id = id
    self.onFailure = onFailure
  }

  /// Why it was given up.
  var failure: SinkFailure?

  var report: NetworkResponse.StreamReport {
    var report = sink.report
    report.failure = failure.map { NetworkError($0, code: .sinkFailed, sendState: .answered) }
    return report
  }
  var backlogBytes: Int { backlog.count - taken }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) throws(SinkFailure) {
    isOpen = true
    try sink.open(head, bytesExpected: bytesExpected, ready: ready)
  }

  func write(_ bytes: RawSpan) throws(SinkFailure) {
    if bytes.isEmpty { return }
    var taken = 0
    if backlogBytes == 0 { taken = try sink.write(bytes) }
    if taken < bytes.byteCount { keep(bytes, from: taken) }
  }

  /// Cuts off what was taken once it is the greater part, so the array stays within twice the backlog.
  private func keep(_ bytes: RawSpan, from start: Int) {
    if taken * 2 >= backlog.count {
      backlog.removeFirst(taken)
      taken = 0
    }
    backlog.append(bytes.extracting(start..<bytes.byteCount))
  }

  /// Offers the backlog again; true when none is left.
  func flush() throws(SinkFailure) -> Bool {
    guard backlogBytes > 0 else { return true }
    taken += try offer(backlog)
    guard backlogBytes == 0 else { return false }
    backlog.removeAll(keepingCapacity: true)
    taken = 0
    return true
  }

  private func offer(_ kept: [UInt8]) throws(SinkFailure) -> Int {
    try sink.write(kept.rawBytes.extracting(taken..<kept.count))
  }

  /// Publishes or abandons, once: it takes nothing any more, also while that is pending.
  func finish(_ failure: NetworkError?) throws(SinkFailure) {
    isFinishing = true
    refusal = failure
    if failure != nil {
      backlog = []
      taken = 0
    }
    try goOnFinishing()
  }

  /// Asks again after `ready`.
  func goOnFinishing() throws(SinkFailure) {
    isEnded = true  // whatever happens below, it is over; `.pending` alone keeps it open
    isEnded = try sink.finish(refusal) == .done
  }
}
