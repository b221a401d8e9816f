import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// What a request costs the loop must not grow with the number of hosts that were asked before.
@Suite(.measured) struct ManyHostsTests {
  /// The work of the loop for each of the last requests, each to the next of so many hosts and on a connection of its own.
  private func work(
    hosts: Int, requests: Int, measured: Int, keepsConnections: Bool = false
  ) async throws -> Duration {
    var time = Duration.zero
    try await withQueue({ ($0.sizing, $0.maximumConcurrent) = (.fixed(8), 64) }, alone: true) { queue in
      let origin = try ScriptedOrigin()
      origin.on("/", keepsConnections ? .text("ok") : .text("ok").header("Connection", "close"))
      let engine = try NetworkEngine(on: queue) { $0.delivery = .loopThread }
      queue.driver.eachLoop { $0.names.resolver = NameResolver { _ in ["127.0.0.1"] } }
      let clock = await LoopClock(queue)
      try await send(hosts: hosts, 0..<requests - measured, to: origin, engine)
      let begin = clock.now
      try await send(hosts: hosts, requests - measured..<requests, to: origin, engine)
      time = (clock.now - begin) / measured
    }
    return time
  }

  private func send(
    hosts: Int, _ numbers: Range<Int>, to origin: ScriptedOrigin, _ engine: NetworkEngine
  ) async throws {
    let (failed, done) = (Counter(), Latch())
    let window = OperationWindow(numbers) { number, next in
      let operation = engine.operation(url: origin.url("/", host: "host\(number % hosts).test"))
      operation.configure { $0.coalesces = false }
        .onCompletion { _ in next() }
        .onError { _ in
          failed.add()
          next()
        }
      engine.enqueue(operation)
    } ended: {
      done.open()
    }
    window.start(200)
    await done.opened()
    #expect(failed.value == 0)
  }

  /// With so many each request finds its host forgotten: the origin, its handle and its addresses are made anew. That must not
  /// become dearer with more of them: if anything looked at all hosts, it would be four times as dear.
  @Test(.notSanitized(.timeIsNoMeasure))
  func `a request costs the loop no more with 12,000 hosts than with 3,000`() async throws {
    let few = try await work(hosts: 3_000, requests: 5_000, measured: 2_000)
    let many = try await work(hosts: 12_000, requests: 12_000, measured: 2_000)
    expect(many, within: few * 2)
  }

  /// Each puts the oldest of the connections that are kept out of its place. libcurl 7.88 goes through all hosts for that
  /// that ever had to go.
  @Test(.notSanitized(.timeIsNoMeasure))
  func `nor where connections are kept`() async throws {
    let few = try await work(hosts: 2_000, requests: 4_000, measured: 1_000, keepsConnections: true)
    let many = try await work(hosts: 16_000, requests: 16_000, measured: 1_000, keepsConnections: true)
    expect(many, within: few * 2)
  }

  @Test(.onlyInLongRuns)
  func `and less than twice as much with 100,000`() async throws {
    let few = try await work(hosts: 100, requests: 10_000, measured: 8_000)
    let many = try await work(hosts: 100_000, requests: 100_000, measured: 8_000)
    expect(many, within: few * 2)
  }
}

/// So many things at once, and the next when one has ended.
private final class OperationWindow: Sendable {
  private let numbers: Range<Int>
  private let next: Atomic<Int>
  private let left: Atomic<Int>
  private let begin: @Sendable (Int, @escaping @Sendable () -> Void) -> Void
  private let ended: @Sendable () -> Void

  init(
    _ numbers: Range<Int>, begin: @escaping @Sendable (Int, @escaping @Sendable () -> Void) -> Void,
    ended: @escaping @Sendable () -> Void
  ) {
    (self.numbers, self.begin, self.ended) = (numbers, begin, ended)
    next = Atomic(numbers.lowerBound)
    left = Atomic(numbers.count)
  }

  func start(_ width: Int) { for _ in 0..<width { goOn() } }

  private func goOn() {
    let number = next.add(1, ordering: .relaxed).oldValue
    guard numbers.contains(number) else { return }
    begin(number) { [self] in
      if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { ended() } else { goOn() }
    }
  }
}
