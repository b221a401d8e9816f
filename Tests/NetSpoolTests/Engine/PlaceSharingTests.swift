import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// The places of a queue, of which one engine could have all.
@Suite(.measured) struct PlaceSharingTests {
  /// Their answers have begun, so nobody may say that their origins are silent.
  @Test func `an engine that has none gets one though another's exchanges take for ever`() async throws {
    try await withEngine(queue: {
      ($0.sizing, $0.maximumPerOrigin, $0.maximumConcurrent) = (.fixed(64), 64, 8)
    }) { many, slow in
      // However slow the machine is
      many.driver.eachLoop { $0.seats.silence = .max }
      slow.fallback(.pattern(200_000).fault(.gate("middle"), at: .body(100_000)))
      let long = many.start((0..<40).map { many.operation(path: "/long", parameters: ["n": "\($0)"]) })
      #expect(await slow.waitForHits("/long", 8))
      let other = try ScriptedOrigin(answering: .text("ok"))
      for _ in 0..<3 {
        let engine = try NetworkEngine(to: other, on: many.configuration.queue) { $0.delivery = .loopThread }
        for _ in 0..<2 { try await engine.expectStart("/", within: .milliseconds(100)) }
      }
      // The many have not got more by it
      #expect(slow.hits("/long") == 8)
      slow.release("middle")
      for operation in long { #expect(await operation.end().response?.body.count == 200_000) }
    }
  }

  /// One of its exchanges lends its place, and what the other does with that must not cost its own requests their order.
  @Test func `a hundred requests hold up neither another engine's nor an urgent one`() async throws {
    try await withEngine(queue: {
      ($0.sizing, $0.maximumPerOrigin, $0.maximumConcurrent) = (.fixed(64), 64, 8)
    }) { many, slow in
      many.driver.eachLoop { $0.seats.silence = .max }
      slow.fallback(.pattern(200_000).fault(.gate("middle"), at: .body(100_000)))
      let long = many.start((0..<108).map { many.operation(path: "/long", parameters: ["n": "\($0)"]) })
      #expect(await slow.waitForHits("/long", 8))
      let other = try ScriptedOrigin(answering: .text("ok"))
      let few = try NetworkEngine(to: other, on: many.configuration.queue)
      #expect(await few.end(of: few.operation(path: "/")).text == "ok")
      // When the one that has a place now and then asks for several at once.
      let several = few.start((0..<5).map { few.operation(path: "/", parameters: ["n": "\($0)"]) })
      for operation in several { #expect(await operation.end().text == "ok") }
      #expect(slow.hits("/long") == 8)
      let urgent = many.operation(path: "/urgent")
      urgent.priority = .urgent
      many.enqueue(urgent)
      slow.release("middle", count: 2)
      // Then the urgent one is the next of its engine.
      #expect(await slow.waitForRequests(9))
      #expect(slow.requests[8].path == "/urgent")
      slow.release("middle")
      for operation in long + [urgent] { #expect(await operation.end().response?.body.count == 200_000) }
    }
  }

  /// Its class is due later than that of those who have all places.
  @Test func `a place that was lent is for the engine that had none`() async throws {
    try await withEngine(queue: { $0.maximumConcurrent = 1 }) { many, slow in
      many.driver.eachLoop { $0.seats.silence = .max }
      slow.fallback(.pattern(200_000).fault(.gate("middle"), at: .body(100_000)))
      let long = many.start((0..<3).map { many.operation(path: "/long", parameters: ["n": "\($0)"]) })
      #expect(await slow.waitForHits("/long", 1))
      let other = try ScriptedOrigin(answering: .text("ok"))
      let few = try NetworkEngine(to: other, on: many.configuration.queue)
      for _ in 0..<3 {
        let low = few.operation(path: "/")
        low.priority = .low
        #expect(await few.end(of: low).text == "ok")
        #expect(slow.hits("/long") == 1)
      }
      slow.release("middle")
      for operation in long { #expect(await operation.end().response?.body.count == 200_000) }
    }
  }

  @Test func `a full queue takes no turns for those behind their own engine`() async throws {
    try await withEngine(queue: { $0.maximumConcurrent = 1 }) { engine, origin in
      origin.hold("/", .text("ok"))
      let operations = engine.start((0..<2).map { engine.operation(path: "/", parameters: ["n": "\($0)"]) })
      #expect(await origin.waitForHits("/", 1))
      #expect(await engine.configuration.queue.onLoop { $0.seats.roomsWatch == nil })
      origin.release("/")
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }
}
