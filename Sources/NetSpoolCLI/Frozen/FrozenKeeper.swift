import Glibc
import NetSpool

/// A store of frozen requests as `netspool frozen` sees it, when nothing is to be sent. A folder without one stays
/// without one.
struct FrozenKeeper {
  let place: FrozenPlace
  let console: Console
  var environment = Environment.process
  var print: ([UInt8]) throws(IOFailure) -> Void = StandardOutput.write

  func waiting() throws -> [FrozenOperation] { try withStore { $0.engine.frozenOperations } ?? [] }

  func list(dead: Bool, asJSON: Bool) throws -> JobStatus {
    let look: (FrozenHold) -> ([FrozenOperation], [FrozenDeadLetter]) = { hold in
      if !dead { hold.noteOthers(console) }
      return (hold.engine.frozenOperations, hold.engine.deadLetters)
    }
    let (waiting, letters) = try withStore(look) ?? ([], [])
    let now = WallTime.now
    if asJSON {
      try print(dead ? letters.flatMap(FrozenJSON.dead) : waiting.flatMap(FrozenJSON.waiting))
    } else {
      let text = dead ? FrozenText.dead(letters, now: now) : FrozenText.waiting(waiting, now: now)
      try print(Array(text.utf8))
    }
    if !asJSON, !dead, !letters.isEmpty {
      let count = HumanText.plural(letters.count, "dead letter", "dead letters")
      console.message("netspool: \(count): " + FrozenAdvice.command(["list", "--dead"], place))
    }
    return .allDone
  }

  enum Form { case text, curl, json }

  func show(_ ids: [UInt64], as form: Form) throws -> JobStatus {
    let now = WallTime.now
    return try change(ids, among: { _ in [] }) { hold, id in
      let waiting = hold.engine.frozenOperations.first { $0.id == id }
      let letter = hold.engine.deadLetters.first { $0.id == id }
      if waiting == nil, letter == nil { return "there is no request #\(id)" }
      guard form != .json else {
        try print(waiting.map(FrozenJSON.waiting) ?? letter.map(FrozenJSON.dead) ?? [])
        return nil
      }
      guard let request = waiting ?? letter?.operation else {
        return "the request of #\(id) is not there any more"
      }
      let text = form == .curl ? "\(request.curlCommand)\n" : FrozenText.facts(request, letter, now: now)
      try print(Array(text.utf8))
      return nil
    }
  }

  /// - Parameter ids: nil is all.
  func revive(_ ids: [UInt64]?) throws -> JobStatus {
    try change(ids, among: { $0.engine.deadLetters.map(\.id) }) { hold, id in
      do throws(NetworkError) { try hold.engine.revive(id: id) } catch {
        return "there is no dead letter #\(id) whose request is still there"
      }
      hold.flush()
      try print(Array("revived #\(id)\n".utf8))
      return nil
    }
  }

  /// - Parameter ids: nil is all.
  func drop(_ ids: [UInt64]?) throws -> JobStatus {
    try change(ids, among: Self.everything) { hold, id in
      guard Self.everything(hold).contains(id) else { return "there is no request #\(id)" }
      // One that waits becomes a dead letter first.
      if hold.engine.cancelFrozen(id: id) { hold.flush() }
      hold.engine.discardDeadLetter(id: id)
      hold.flush()
      try print(Array("dropped #\(id)\n".utf8))
      return nil
    }
  }

  private static func everything(_ hold: FrozenHold) -> [UInt64] {
    hold.engine.frozenOperations.map(\.id) + hold.engine.deadLetters.map(\.id)
  }

  /// - Parameter body: does it to one, or says why not.
  private func change(
    _ ids: [UInt64]?, among all: (FrozenHold) -> [UInt64], _ body: (FrozenHold, UInt64) throws -> String?
  ) throws -> JobStatus {
    let problems = try withStore { hold in try (ids ?? all(hold)).compactMap { id in try body(hold, id) } }
    let refused = problems ?? (ids ?? []).map { "there is no request #\($0)" }
    for problem in refused { console.message("netspool: \(problem)") }
    return refused.isEmpty ? .allDone : .failedForGood
  }

  /// Nil when there is no store. What a process left in the middle of being sent has been decided.
  private func withStore<Result>(_ body: (FrozenHold) throws -> Result) throws -> Result? {
    let settings = try FrozenSettings(place, environment)
    guard try FrozenHold.isThere(in: settings.directory) else { return nil }
    let hold = try FrozenHold(settings, console)
    defer { hold.close() }
    hold.flush()
    return try body(hold)
  }
}

/// The frozen store of one command, and what its engine may do with it: send nothing unless told otherwise.
struct FrozenSettings: Sendable {
  let directory: String
  var timeoutSeconds = Double(RequestOptions.timeoutSeconds)
  /// How servers are reached: proxy, authorities. Without it, as the environment says.
  var connection: (@Sendable (inout NetworkEngine.Configuration) -> Void)?
  var freezing = FreezeConfiguration()

  init(_ place: FrozenPlace, _ environment: Environment) throws(StoreFailure) {
    guard let path = place.path(environment) else { throw .nowhere(.frozen) }
    directory = path
    freezing.directory = path
    freezing.maySend = { _ in false }
  }
}

/// An open store of frozen requests, with the engine that sends them.
///
/// The engine has no host: so all requests are its own, whatever they are for, and no call of `netspool` leaves
/// anything that another one does not find.
final class FrozenHold {
  let directory: String
  let engine: NetworkEngine
  /// Requests whose bytes were not what was written, when it was opened: dead letters now.
  private(set) var damaged: [UInt64] = []

  /// True if there is a store, found without opening it: looking must not make one. One that may not be looked at counts:
  /// opening it says why.
  static func isThere(in directory: String) throws(StoreFailure) -> Bool {
    if FileFacts(path: directory)?.isDirectory == false { throw .noDirectory(.frozen, directory) }
    if unsafe access("\(directory)/data.mdb", F_OK) == 0 { return true }
    return errno != ENOENT && errno != ENOTDIR
  }

  /// - Parameter console: hears of a damaged store; nil keeps quiet.
  /// Throws `StoreFailure`, and `NetworkError` for settings that the library refuses.
  init(_ settings: FrozenSettings, _ console: Console?) throws {
    directory = settings.directory
    var configuration = NetworkEngine.Configuration()
    settings.connection?(&configuration)
    configuration.queue = try NetworkQueue()
    let timeout = Duration.seconds(settings.timeoutSeconds)
    configuration.timeouts.total = timeout
    configuration.timeouts.headers = min(timeout, configuration.timeouts.headers)
    configuration.timeouts.connect = min(timeout, configuration.timeouts.connect)
    engine = try NetworkEngine(configuration: configuration)
    let begun = WallTime.now
    do throws(StoreFailure) { try open(settings) } catch {
      engine.configuration.queue.close()
      throw error
    }
    if case .damaged(let why, let file?) = engine.frozenStoreFinding {
      console?.message(
        "netspool: the frozen store in \(directory) was damaged (\(why)): it is kept as "
          + "\(directory)/\(file), and the requests that are whole in it go on in a new one")
    }
    damaged = engine.deadLetters.filter { $0.error.code == .storeCorrupt && $0.diedAt >= begun }.map(\.id)
    if !damaged.isEmpty {
      console?.message(
        "netspool: \(FrozenText.list(damaged.map { "#\($0)" })) in the frozen store in \(directory) "
          + "\(damaged.count == 1 ? "was" : "were") damaged, and cannot be sent: see 'frozen list --dead'")
    }
  }

  private func open(_ settings: FrozenSettings) throws(StoreFailure) {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      do throws(NetworkError) { return try engine.useFreezing(settings.freezing) } catch {
        guard error.code == .storeInUse, ContinuousClock.now < deadline else {
          throw StoreFailure.of(.frozen, directory, error)
        }
        // There is nothing to be woken by: the lock is another process's.
        usleep(Self.retryMicroseconds)
      }
    }
  }

  /// How long another process that has the store is waited for. Most have it for a moment only.
  private static let patience = Duration.seconds(2)
  private static let retryMicroseconds: UInt32 = 20_000
  /// More than any disk should take.
  private static let writeSeconds = 30.0

  /// Says what waits for other programs: an engine sends what is its own, and nothing else.
  func noteOthers(_ console: Console) {
    let count = engine.configuration.queue.activity.frozen - engine.frozenOperations.count
    guard count > 0 else { return }
    let wait = HumanText.plural(
      count, "request waits for the program that froze it", "requests wait for the programs that froze them")
    console.message("netspool: \(wait)")
  }

  /// Waits until everything that was asked for is on the disk. For an engine that sends nothing.
  func flush() { engine.flushFrozen(deadline: Self.writeSeconds) }

  /// Ends what is being sent, and lets go of the store. Everybody has been told when this returns.
  func close() {
    engine.shutDownAndWait(deadline: .zero)
    engine.configuration.queue.close()
  }
}
