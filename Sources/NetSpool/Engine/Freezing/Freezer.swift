internal import Synchronization

/// A store of frozen requests that is open in this process, and the one thread that decides about them and writes: the
/// `FrozenSender` lives there. It belongs to the process and to no queue: all engines that name the same directory share
/// it, each with its own queue, and it closes when the last of them has left. Any thread.
///
/// A disk that hangs keeps that thread alone: loops, other stores and callers that end an engine or a queue wait for it no
/// longer than `Scheduler.storePatience`.
final class Freezer: Sendable {
  struct Settings: Sendable {
    var store: FrozenStoreSettings
    var policy = FrozenPolicy.standard
    var limits = FrozenLimits()
    var now: @Sendable () -> ClockMoment = { .now }
  }

  typealias Command = @Sendable (FrozenSender) -> Void

  private struct Commands: InboxWork {
    var all: [Command] = []
    var isWaiting: Bool { !all.isEmpty }

    /// None is kept: they hold engines, which hold the freezer.
    mutating func takeAll() -> [Command] {
      defer { all = [] }
      return all
    }
  }

  let store: FrozenStore
  let settings: Settings
  private let directory: Directory
  /// Engines that may use it. Changed under the directory's lock only.
  private let users = Atomic(1)
  /// Until a caller has been told whether the store was damaged.
  let isNew = Once()
  private let inbox = Inbox(Commands())

  private init(_ store: FrozenStore, _ settings: Settings, _ directory: Directory) {
    self.store = store
    self.settings = settings
    self.directory = directory
  }

  /// Has something done on the freezer's thread, behind all that was sent before it. False when it is closed.
  @discardableResult
  func dispatch(_ command: @escaping Command) -> Bool { inbox.send { $0.all.append(command) } != nil }

  // MARK: Opening and leaving

  /// A directory that was once named. Its lock is held while its store is opened, joined or closed: an engine that comes
  /// while it closes waits, and opens it anew.
  private final class Directory: Sendable {
    let freezer = Mutex<Freezer?>(nil)
  }

  private static let directories = Mutex<[String: Directory]>([:])

  /// The store of a directory, opened if this process has not done so; the first user's settings count. Each call is to
  /// be followed by one of `leave`. What earlier processes left there is sent as soon as the engine it belongs to has come.
  ///
  /// Throws `engineStartFailed`, and what `FrozenStore.open` does.
  static func shared(_ settings: Settings) throws(NetworkError) -> Freezer {
    let directory = directories.withLock { directories in
      let directory = directories[settings.store.directory] ?? Directory()
      directories[settings.store.directory] = directory
      return directory
    }
    return try directory.freezer.withLock { freezer throws(NetworkError) in
      if let freezer {
        freezer.users.add(1, ordering: .relaxed)
        return freezer
      }
      let opened = Freezer(try FrozenStore.open(settings.store), settings, directory)
      try opened.start()
      freezer = opened
      return opened
    }
  }

  private func start() throws(NetworkError) {
    do {
      try inbox.start(InboxCrew(name: "netspool-freeze", isDetached: true) { [self] in run() })
    } catch {
      store.close()
      throw error
    }
  }

  /// An engine leaves, or is gone. With the last one the store closes, once nothing of it is on its way.
  func leave() {
    directory.freezer.withLock { _ in _ = users.subtract(1, ordering: .relaxed) }
    dispatch { $0.noteEngines() }
  }

  // MARK: The thread

  private func run() {
    let sender = FrozenSender(self)
    while let commands = next(until: wakeTime(sender)) {
      for command in commands { command(sender) }
      let left = sender.endTurn()
      let isClosed = users.load(ordering: .relaxed) == 0 && close(sender)
      for done in left { done() }
      if isClosed { return }
    }
  }

  private func next(until deadline: Microseconds) -> [Command]? {
    inbox.next { commands, look in
      let isDue = look.isLate || deadline <= MonotonicClock.now
      if commands.all.isEmpty, !isDue { return .sleep(until: deadline) }
      return .take(commands.takeAll())
    }
  }

  /// When there is something to do without a command, by the clock that semaphores know; that of the requests may be a test's.
  private func wakeTime(_ sender: FrozenSender) -> Microseconds {
    let wait = sender.spool.nextDue.map { min(max(0, $0 - settings.now().monotonic), Self.sleepMax) }
    let due = MonotonicClock.now + (wait ?? Self.sleepMax) + 1_000
    return min(due, sender.spool.journal.due, sender.leaving.map(\.lateAt).min() ?? .max)
  }

  /// Semaphores know no clock that goes on while the machine sleeps: what became due meanwhile is noticed after that
  /// at the latest. 1 min.
  private static let sleepMax = 60 * Microseconds.second

  /// Writes what was decided, and lets another process have the store. False when an engine has come meanwhile.
  private func close(_ sender: FrozenSender) -> Bool {
    directory.freezer.withLock { freezer in
      guard users.load(ordering: .relaxed) == 0 else { return false }
      sender.park()
      store.close()
      inbox.close()
      for command in inbox.withLock({ $0.takeAll() }) { command(sender) }
      sender.close()
      freezer = nil
      return true
    }
  }
}
