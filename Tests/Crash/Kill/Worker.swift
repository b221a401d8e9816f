#if DEBUG
import ArgumentParser
import Dispatch
import Glibc
import NetSpool
import Synchronization
@testable import TestSupport

/// The process that is killed: a program that freezes requests, as a user would write it. It says what it was told,
/// after it was told.
final class Worker: Sendable {
  struct Settings: ParsableArguments, Sendable {
    @Option var port: Int
    @Option var directory: String
    /// Names what this process asks for; no two have the same.
    @Option var name: Int
    @Option var seed: UInt64
    /// Requests that are frozen at once, and as many again when they are through.
    @Option var load: Int
  }

  private let settings: Settings
  private let engine: NetworkEngine
  private let state: Mutex<(random: SplitMix64, serial: Int)>

  /// Lanes that every process uses, and lanes of its own: what waits in a lane of an earlier process is let go gently,
  /// and only a lane without a past is sent at once.
  static let sharedLanes = 4
  static let ownLanes = 4

  init(_ settings: Settings) throws {
    self.settings = settings
    state = Mutex((random: SplitMix64(seed: settings.seed), serial: 0))
    var configuration = NetworkEngine.Configuration()
    configuration.scheme = .http
    configuration.port = settings.port
    configuration.timeouts.headers = .seconds(0.5)
    engine = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
    var freezing = FreezeConfiguration()
    freezing.directory = settings.directory
    freezing.backoffBase = .seconds(0.01)
    freezing.backoffMax = .seconds(0.05)
    try engine.useFreezing(freezing)
    try engine.onThawed { outcome in
      Self.tell(outcome.id, outcome.result.map(\.status), mayBeRepeated: outcome.mayBeRepeated)
    }
  }

  private static func tell(_ id: UInt64, _ result: Result<Int, NetworkError>, mayBeRepeated: Bool = false) {
    let time = mayBeRepeated ? "again" : "first"
    switch result {
    case .success(let status): CrashFiles.say("TERM \(id) \(status) \(time)")
    case .failure(let error): CrashFiles.say("DEAD \(id) \(error.code) \(time)")
    }
  }

  // MARK: Load

  func begin() { for _ in 0..<settings.load { enqueue() } }

  /// In the order of their numbers, whoever is put off meanwhile: a lane keeps the order that they were enqueued in.
  private func enqueue() {
    state.withLock { state in
      state.serial += 1
      engine.enqueue(
        operation(CrashRequest(worker: settings.name, serial: state.serial, using: &state.random)))
    }
  }

  private func operation(_ request: CrashRequest) -> NetworkOperation {
    let id = Atomic<UInt64>(0)
    return engine.operation(networkRequest(request))
      .onFrozen { ticket in
        id.store(ticket.id, ordering: .relaxed)
        CrashFiles.say("ACK \(ticket.id) \(ticket.idempotencyKey) \(request.digest) \(request.path)")
      }
      .onCompletion { [self] response in
        Self.tell(id.load(ordering: .relaxed), .success(response.status))
        enqueue()
      }
      .onError { [self] error in
        Self.tell(id.load(ordering: .relaxed), .failure(error))
        enqueue()
      }
  }

  private func networkRequest(_ request: CrashRequest) -> NetworkRequest {
    var made = NetworkRequest(
      url: "http://127.0.0.1:\(settings.port)/\(request.path)", method: request.isPut ? .put : .post,
      body: .bytes(request.body))
    made.tag = "crash"
    made.isFreezable = true
    made.freezing.lane = request.lane
    made.freezing.isOrdered = request.isOrdered
    return made
  }

  // MARK: The end

  /// Sends all that waits, what became a dead letter too, says what is left, and leaves in order. False when that
  /// takes too long.
  func drain(seconds: Double) -> Bool {
    let deadline = DispatchTime.now() + seconds
    while DispatchTime.now() < deadline {
      usleep(20_000)
      // What was asked to be sent after all is no letter any more, and stands among the others.
      if !engine.flushFrozen(deadline: 1) || !engine.frozenOperations.isEmpty { continue }
      let letters = engine.deadLetters
      for letter in letters { revive(letter) }
      if letters.isEmpty || letters.allSatisfy({ !Self.mayBeRevived($0) }) { break }
    }
    let isDone = engine.frozenOperations.isEmpty
    for letter in engine.deadLetters { CrashFiles.say("LEFT \(letter.id) \(letter.error.code)") }
    engine.shutDownAndWait()
    return isDone
  }

  private static func mayBeRevived(_ letter: FrozenDeadLetter) -> Bool {
    letter.error.code == .frozenPoisoned
  }

  private static func path(_ letter: FrozenDeadLetter) -> String {
    let parts = letter.operation?.url.split(separator: "/", maxSplits: 2) ?? []
    return parts.count == 3 ? String(parts[2]) : "unknown"
  }

  private func revive(_ letter: FrozenDeadLetter) {
    guard Self.mayBeRevived(letter) else { return }
    CrashFiles.say("BACK \(letter.id) \(Self.path(letter))")
    try? engine.revive(id: letter.id)
  }
}
#endif
