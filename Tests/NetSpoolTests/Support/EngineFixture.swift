import Dispatch
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// An engine on a queue of its own, and an origin for it to talk to: `engine.operation(path:)` leads there.
///
/// Afterwards the queue is closed, which ends what still runs, and it is proven that every operation got its
/// final event and that the loop was closed without a handle left open.
func withEngine(
  _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
  queue configureQueue: (inout NetworkQueue.Configuration) -> Void = { _ in },
  limits: OriginLimits = OriginLimits(), alone: Bool = false,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
) async throws {
  try await withQueue(configureQueue, alone: alone, sourceLocation: sourceLocation) { queue in
    let origin = try ScriptedOrigin(limits: limits)
    try await body(NetworkEngine(to: origin, on: queue, configure), origin)
  }
}

/// A queue of its own, proven to close empty. With `alone` no other test with an engine runs meanwhile.
func withQueue(
  _ configure: (inout NetworkQueue.Configuration) -> Void = { _ in }, alone: Bool = false,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (NetworkQueue) async throws -> Void
) async throws {
  var settings = NetworkQueue.Configuration()
  settings.sizing = .fixed(16)
  configure(&settings)
  let queue = try NetworkQueue(configuration: settings)
  try await TestSlots.run(alone: alone, state: { queue.whereEverybodyIs }) {
    do {
      try await body(queue)
    } catch {
      await prove(queue, sourceLocation)
      throw error
    }
    await prove(queue, sourceLocation)
  }
}

/// Closes the queue, on a thread that may block, and proves that nothing is left of it.
private func prove(_ queue: NetworkQueue, _ sourceLocation: SourceLocation) async {
  let (left, isDrained) = await blocking { (queue.driver.close(), queue.drainAndWait()) }
  #expect(left == 0, "handles were left open", sourceLocation: sourceLocation)
  #expect(isDrained, "an operation has no final event", sourceLocation: sourceLocation)
  #expect(!queue.activity.isBusy, sourceLocation: sourceLocation)
}

extension NetworkQueue {
  /// Where each operation is that has not ended, as the loop knows it; waits for the loop two seconds.
  fileprivate var whereEverybodyIs: String {
    let (said, answered) = (Journal<String>(), DispatchSemaphore(value: 0))
    driver.performEverywhere { scheduler in
      scheduler.operations.all().forEach { said.add("\($0.request.url): \($0.loop.phase)") }
    } done: {
      answered.signal()
    }
    let isAnswered = answered.wait(timeout: .now() + 2) == .success
    let places = said.entries.joined(separator: "; ")
    return (isAnswered ? "" : "The loop does not answer. ") + "Of \(activity): \(places)"
  }
}

extension ScriptedOrigin {
  /// Answers every request with the same.
  convenience init(answering answer: Answer) throws {
    try self.init()
    fallback(answer)
  }

  /// Answers requests to a path as soon as they are released.
  func hold(_ path: String, _ answer: Answer) {
    on(path, answer)
    hold(path)
  }
}

extension NetworkQueue {
  /// Holds the home loop until the latch is opened: what is sent meanwhile it finds all at once.
  func heldLoop() async -> Latch {
    let (isHeld, goesOn) = (Latch(), Latch())
    driver.perform { _ in
      isHeld.open()
      goesOn.block()
    }
    await isHeld.opened()
    return goesOn
  }
}

extension QueueDriver {
  /// Runs a closure on each loop, and begins those that have not: before anything is asked of them.
  func eachLoop(_ action: @escaping Action) { for loop in loops { port(of: loop).perform(action) } }

  /// Waits until every loop has taken what it was sent.
  func goRound() async {
    await withCheckedContinuation { continuation in
      performEverywhere { _ in
      } done: {
        continuation.resume()
      }
    }
  }
}

extension LoopPort {
  /// Runs a closure on the loop's thread, behind everything that this engine has sent there, and answers what it returns.
  @discardableResult
  func onLoop<Value: Sendable>(
    of engine: UInt64? = nil, _ body: @escaping @Sendable (Scheduler) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      perform(of: engine) { continuation.resume(returning: body($0)) }
    }
  }
}

extension NetworkQueue {
  /// What is so on the home loop.
  func onLoop<Value: Sendable>(_ body: @escaping @Sendable (Scheduler) -> Value) async -> Value {
    await driver.port(of: driver.home).onLoop(body)
  }
}

extension NetworkEngine {
  /// Paths lead to this origin.
  convenience init(
    to origin: ScriptedOrigin, on queue: NetworkQueue, _ configure: (inout Configuration) -> Void = { _ in }
  ) throws {
    var configuration = Configuration()
    configuration.scheme = .http
    configuration.port = origin.port
    configuration.queue = queue
    configuration.timeouts = .patient
    configure(&configuration)
    try self.init(host: "127.0.0.1", configuration: configuration)
  }

  /// With settings that are the usual ones but for the queue, patience, and what is changed.
  convenience init(
    host: String? = nil, on queue: NetworkQueue, _ configure: (inout Configuration) -> Void = { _ in }
  ) throws(NetworkError) {
    var configuration = Configuration()
    configuration.queue = queue
    configuration.timeouts = .patient
    configure(&configuration)
    try self.init(host: host, configuration: configuration)
  }

  /// Why an engine with these settings is refused; nil when it is made.
  static func refusal(
    host: String? = "example.org", _ configure: (inout Configuration) -> Void
  ) -> NetworkError? {
    do throws(NetworkError) {
      _ = try NetworkEngine(host: host, on: .shared, configure)
      return nil
    } catch { return error }
  }

  /// Enqueues one that asks for a path and answers it.
  @discardableResult
  func get(_ path: String) -> NetworkOperation {
    let operation = operation(path: path)
    enqueue(operation)
    return operation
  }

  /// The same, where its end is waited for later: in asynchronous code `get` alone is the public one.
  @discardableResult
  func start(_ path: String) -> NetworkOperation { get(path) as NetworkOperation }

  /// Enqueues it and answers it.
  func start(_ operation: NetworkOperation) -> NetworkOperation {
    enqueue(operation)
    return operation
  }

  /// The same with many, as one batch.
  func start(_ operations: [NetworkOperation]) -> [NetworkOperation] {
    enqueue(operations)
    return operations
  }

  /// The same, once some of its answer's body has come.
  func underWay(_ path: String) async -> NetworkOperation {
    let hasCome = Latch()
    let operation = start(operation(path: path).onDownloadProgress { _ in hasCome.open() })
    await hasCome.opened()
    return operation
  }

  /// The same, once the origin holds it.
  func held(
    _ path: String, at origin: ScriptedOrigin, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> NetworkOperation {
    origin.hold(path)
    let operation = start(path)
    #expect(await origin.waitForWaiting(path, 1), sourceLocation: sourceLocation)
    return operation
  }

  /// The same, which has this answer in the end.
  func held(
    _ path: String, _ answer: Answer, at origin: ScriptedOrigin,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async -> NetworkOperation {
    origin.on(path, answer)
    return await held(path, at: origin, sourceLocation: sourceLocation)
  }

  /// Enqueues those that ask for one path, and lets the origin answer when all of them have come: whatever holds this test
  /// up meanwhile, they share an exchange.
  func share(_ path: String, at origin: ScriptedOrigin, _ operations: [NetworkOperation]) async {
    origin.hold(path)
    for operation in operations { enqueue(operation) }
    await settle()
    origin.release(path)
  }

  /// Waits until the loop has taken all that was enqueued: what the origin does from now on comes after it.
  func settle() async {
    // Twice: what the engine's own loop is handed first may be for another one.
    for _ in 0..<2 { await configuration.queue.driver.goRound() }
  }

  /// Enqueues it and waits for its end.
  func end(of operation: NetworkOperation) async -> Ending {
    enqueue(operation)
    return await operation.end()
  }
}

extension NetworkRequest.Timeouts {
  /// The usual limits but for this one.
  static func total(_ time: Duration) -> Self {
    var limits = Self()
    limits.total = time
    return limits
  }

  /// The same.
  static func queueDeadline(_ time: Duration) -> Self {
    var limits = Self()
    limits.queueDeadline = time
    return limits
  }

  /// Where a sanitizer or other work holds a test up between two of its steps, time is not what it tests.
  static var patient: Self {
    Self(connect: .seconds(600), headers: .seconds(600), stall: .seconds(600), total: .seconds(600))
  }
}
