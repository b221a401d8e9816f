import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// The places of a queue, of which one engine could have all.
@Suite(.measured) struct PlaceSharingTests {
  /// Their answers have begun, so nobody may say that their origins are silent.
  @Test func `an engine that has none gets one though another's exchanges take for ever`() async throws {
    try await withQueue {
      $0.sizing = .fixed(64)
      $0.maximumPerOrigin = 64
      $0.maximumConcurrent = 8
    } _: { queue in
      let slow = try ScriptedOrigin()
      slow.fallback(.pattern(200_000).fault(.gate("middle"), at: .body(100_000)))
      let many = try NetworkEngine(to: slow, on: queue)
      let long = many.start((0..<40).map { many.operation(path: "/long", parameters: ["n": "\($0)"]) })
      #expect(await slow.waitForHits("/long", 8))
      let other = try ScriptedOrigin()
      other.on("/", .text("ok"))
      for _ in 0..<3 {
        let engine = try NetworkEngine(to: other, on: queue) { $0.delivery = .loopThread }
        for _ in 0..<2 { try await engine.expectStart("/", within: .milliseconds(100)) }
      }
      // The many have not got more by it
      #expect(slow.hits("/long") == 8)
      slow.release("middle")
      for operation in long { #expect(await operation.end().response?.body.count == 200_000) }
    }
  }

  @Test func `a full queue takes no turns for those behind their own engine`() async throws {
    let origin = try ScriptedOrigin()
    origin.hold("/", .text("ok"))
    try await withQueue({ $0.maximumConcurrent = 1 }) { queue in
      let engine = try NetworkEngine(to: origin, on: queue)
      let operations = engine.start((0..<2).map { engine.operation(path: "/", parameters: ["n": "\($0)"]) })
      #expect(await origin.waitForHits("/", 1))
      #expect(await queue.onLoop { $0.seats.roomsWatch == nil })
      origin.release("/")
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }
}
