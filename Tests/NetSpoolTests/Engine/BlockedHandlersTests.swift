import Dispatch
import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// More handlers that block than Dispatch has threads for (255). In a process of its own, because none is left in it.
struct BlockedHandlersTests {
  @Test func `stop no network, nor engines that deliver on the loop thread`() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      alarm(120)  // nobody else ends it if a promise is broken
      let origin = try ScriptedOrigin(answering: .text("ok"))
      let queue = try NetworkQueue()
      let gate = DispatchSemaphore(value: 0)
      let count = 300
      // Given
      let guests = try (0..<count).map { _ in try NetworkEngine(to: origin, on: queue) }
      for guest in guests { guest.enqueue(guest.operation(path: "/").onCompletion { _ in gate.wait() }) }
      while guests.contains(where: { $0.budgets.deliveries.held == 0 }) { usleep(1_000) }
      // When others ask
      let onLoop = try NetworkEngine(to: origin, on: queue) { $0.delivery = .loopThread }
      try onLoop.wait(for: onLoop.operation(path: "/a"))
      let other = try NetworkEngine(to: origin, on: queue)
      let answered = DispatchSemaphore(value: 0)
      other.enqueue(other.operation(path: "/b").onCompletion { _ in answered.signal() })
      // Then it is said of those that cannot be told that they have something to hear
      while other.budgets.deliveries.held == 0 { usleep(1_000) }
      try onLoop.wait(for: onLoop.operation(path: "/c"))
      // And they hear it when others let go
      for _ in 0..<count { gate.signal() }
      answered.wait()
      exit(7)
    }
  }
}
