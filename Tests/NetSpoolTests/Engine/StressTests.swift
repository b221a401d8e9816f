import NetSpool
import NetSpoolTesting
import Synchronization
import Testing

@testable import TestSupport

/// Everything at once, at random, from a seed that a failure prints.
struct StressTests {
  @Test(arguments: [1, 2])
  func `whatever is done to them, operations end once, and die`(seed: UInt64) async throws {
    let count = LongRun.isOn ? 100_000 : 2_000
    let living = Counter()
    try await withEngine(
      {
        $0.retry = .attempts(2)
        $0.limits.bodyBytesInMemoryMax = 1 << 20
      }, queue: { $0.sizing = .fixed(32) }
    ) { engine, origin in
      script(origin)
      let tally = Tally()
      let recent = Recent()
      await withTaskGroup(of: Void.self) { group in
        for part in 0..<4 {
          group.addTask {
            var random = SplitMix64(seed: seed &* 1000 &+ UInt64(part))
            for _ in 0..<count / 4 {
              let operation = make(engine, &random, living)
              tally.watch(operation)
              recent.put(operation, &random)
              engine.enqueue(operation)
              recent.withAny(&random, disturb)
            }
          }
        }
      }
      recent.resumeAll()
      await tally.wait(for: count)
      #expect(engine.configuration.queue.drainAndWait(deadline: .patience))
      recent.forget()
      #expect(tally.ended == count, "seed \(seed)")
      #expect(tally.isOneEach, "seed \(seed)")
      #expect(tally.count("completed") > count / 4)
      #expect(!engine.configuration.queue.activity.isBusy)
      engine.shutDownAndWait()
    }
    #expect(living.value == 0, "operations that never died, seed \(seed)")
  }

  private func script(_ origin: ScriptedOrigin) {
    origin.on(prefix: "/ok", .text("ok"))
    origin.on(prefix: "/big", .pattern(60_000))
    origin.on(prefix: "/slow", .pattern(2_000).slice(500, every: .milliseconds(2)))
    origin.on(prefix: "/error", .status(500).header("Retry-After", "0"))
    origin.on(prefix: "/missing", .status(404))
    origin.on(prefix: "/reset", .pattern(5_000).resetAfter(2_000))
    origin.on(prefix: "/cut", .pattern(5_000).closeAfter(2_000))
    origin.on(prefix: "/hangup", .hangUp)
    origin.on(prefix: "/garbage", .raw("nonsense\r\n\r\n"))
    origin.on(prefix: "/from", .redirect(to: "/ok/redirected"))
    origin.on(prefix: "/loop", .redirect(to: "/loop"))
  }

  private static let paths = [
    "/ok", "/ok", "/ok", "/ok", "/big", "/slow", "/error", "/missing", "/reset", "/cut", "/hangup",
    "/garbage", "/from", "/loop",
  ]

  private func make(_ engine: NetworkEngine, _ random: inout SplitMix64, _ living: Counter)
    -> NetworkOperation
  {
    // Few different ones, so that many are shared.
    let path = "\(Self.paths.randomElement(using: &random)!)/\(Int.random(in: 0..<40, using: &random))"
    let operation = engine.operation(path: path, method: random.chance(10) ? .post : .get)
    operation.priority = NetworkRequest.Priority.allCases.randomElement(using: &random)!
    if random.chance(20) { operation.configure { $0.coalesces = false } }
    if random.chance(10) { operation.addDownloadStream(MemoryDownloadStream()) }
    if random.chance(5) { operation.setBody(.bytes(BodyPattern.bytes(3_000))) }
    let sentinel = Sentinel(living)
    operation.onStateChange { _ in withExtendedLifetime(sentinel) {} }
    if random.chance(5) { operation.onCompletion { [weak operation] _ in operation?.cancel() } }
    return operation
  }

  private func disturb(_ operation: NetworkOperation, _ random: inout SplitMix64) {
    switch random.next() % 20 {
    case 0, 1: operation.cancel()
    case 2: operation.pause()
    case 3, 4, 5: operation.resume()
    case 6: operation.priority = NetworkRequest.Priority.allCases.randomElement(using: &random)!
    default: break
    }
  }

  /// Counts the operations that live: their handlers hold one each.
  private final class Sentinel: Sendable {
    private let living: Counter

    init(_ living: Counter) {
      self.living = living
      living.add()
    }

    deinit { living.add(-1) }
  }

  /// Some of the latest operations, and all that were paused.
  private final class Recent: Sendable {
    private let kept = Mutex<[NetworkOperation]>([])

    func put(_ operation: NetworkOperation, _ random: inout SplitMix64) {
      let place = Int.random(in: 0..<256, using: &random)
      let replaced = kept.withLock { kept in
        if kept.count < 256 {
          kept.append(operation)
          return operation
        }
        defer { kept[place] = operation }
        return kept[place]
      }
      replaced.resume()
    }

    /// Under the lock: one that is replaced meanwhile is resumed after what is done to it, never before.
    func withAny(_ random: inout SplitMix64, _ body: (NetworkOperation, inout SplitMix64) -> Void) {
      let place = Int.random(in: 0..<256, using: &random)
      kept.withLock { if $0.indices.contains(place) { body($0[place], &random) } }
    }

    func resumeAll() { for operation in kept.withLock({ $0 }) { operation.resume() } }
    func forget() { kept.withLock { $0 = [] } }
  }
}
