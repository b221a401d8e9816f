/// Looks into the store for callers that must not wait for the disk: one thread for each store, from the first question on.
///
/// A disk that hangs keeps this thread. Then nothing more is taken, and a caller goes on without what is stored.
final class StoreLooker: Sendable {
  typealias Job = @Sendable () -> Void

  private struct Jobs: InboxWork {
    var waiting = FIFO<(bytes: Int, job: Job)>()
    var bytes = 0
    /// When it began with what it is at; nil while it has nothing to do.
    var since: Microseconds?

    var isWaiting: Bool { !waiting.isEmpty }
  }

  private let inbox = Inbox(Jobs())

  private let patience: Microseconds
  private static let jobsMax = 1 << 16
  private static let bytesMax = 32 << 20

  /// - Parameter patience: with one job for longer, it waits for the disk; see `CacheStoreSettings.lookPatience`.
  init(patience: Microseconds) { self.patience = patience }

  /// Has a job done, behind those before. False when it will not be: too much waits, or the disk hangs.
  ///
  /// - Parameter bytes: what the job keeps in memory.
  func run(bytes: Int = 0, _ job: @escaping Job) -> Bool {
    let isTaken = inbox.send(by: InboxCrew(name: "netspool-looks") { [self] in work() }) { jobs in
      if isStuck(jobs) || jobs.waiting.count >= Self.jobsMax { return false }
      if bytes > 0, jobs.bytes > 0, jobs.bytes + bytes > Self.bytesMax { return false }
      jobs.waiting.append((bytes, job))
      jobs.bytes += bytes
      return true
    }
    return isTaken ?? false
  }

  /// True if it is at one job for too long.
  var isStuck: Bool { inbox.withLock { isStuck($0) } }

  private func isStuck(_ jobs: Jobs) -> Bool {
    jobs.since.map { MonotonicClock.now - $0 > patience } ?? false
  }

  /// Does what is left, and ends the thread.
  func stop() {
    inbox.close()
    inbox.join()
  }

  private func work() {
    while let (bytes, job) = inbox.next(Self.first) {
      job()
      inbox.withLock { $0.bytes -= bytes }
    }
  }

  private static func first(_ jobs: inout Jobs, _ look: Inbox<Jobs>.Look) -> Inbox<Jobs>.Step<(Int, Job)> {
    let first = jobs.waiting.popFirst()
    jobs.since = first.map { _ in MonotonicClock.now }
    if let first { return .take(first) }
    return look.isClosed ? .end : .sleep(until: .max)
  }
}
