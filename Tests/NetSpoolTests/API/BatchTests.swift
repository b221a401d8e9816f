import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

struct BatchTests {
  private static let many = LongRun.isOn ? 10_000 : 1_000

  @Test func `many with three in a hundred errors have one ending, in their order`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(64) }) { engine, origin in
      origin.on(prefix: "/", .text("1234"))
      for number in stride(from: 0, to: Self.many, by: 33) { origin.on("/\(number)", .status(500)) }
      let operations = (0..<Self.many).map { engine.operation(path: "/\($0)") }
      let progress = Journal<NetworkBatch.Progress>()
      origin.hold("/1")
      let batch = engine.enqueue(operations).onProgress { progress.add($0) }
      origin.release("/1")
      let results = await batch.results
      #expect(results.count == Self.many)
      for (number, result) in results.enumerated() {
        #expect(result.text == (number % 33 == 0 ? nil : "1234"), "operation \(number)")
        #expect((result.code == .status) == (number % 33 == 0), "operation \(number)")
      }
      let last = try #require(progress.entries.last)
      #expect(last.done == Self.many && last.total == Self.many && last.fraction == 1)
      #expect(last.bytes == Int64(results.count { $0.code == nil } * 4))
    }
  }

  @Test func `none at all is complete at once, and once`() async throws {
    try await withEngine { engine, _ in
      let calls = Journal<Int>()
      await withCheckedContinuation { continuation in
        engine.enqueue([]).onCompletion {
          calls.add($0.count)
          continuation.resume()
        }
      }
      #expect(calls.entries == [0])
      #expect(await engine.enqueue([]).results.isEmpty)
    }
  }

  @Test func `a completion that is added later comes right away`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("ok"))
      let batch = engine.enqueue([engine.operation(path: "/a")])
      for _ in 0..<2 {
        let results = await withCheckedContinuation { continuation in
          batch.onCompletion { continuation.resume(returning: $0) }
        }
        #expect(results.map(\.text) == ["ok"])
      }
    }
  }

  @Test func `failing fast ends the others at the first error, without a storm`() async throws {
    try await withEngine { engine, origin in
      origin.hold("/held")
      origin.on("/bad", .status(500))
      let held = (0..<Self.many).map { engine.operation(path: "/held", parameters: ["n": "\($0)"]) }
      let bad = engine.operation(path: "/bad")
      bad.priority = .urgent
      let results = await engine.enqueue([bad] + held, failFast: true).results
      #expect(results[0].code == .status)
      #expect(results.dropFirst().allSatisfy { $0.code == .cancelled })
    }
  }

  @Test func `cancelling ends those that have not ended`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.on("/first", .text("ok"))
      origin.hold("/held")
      let first = engine.operation(path: "/first")
      let others = (0..<100).map { engine.operation(path: "/held", parameters: ["n": "\($0)"]) }
      let batch = engine.enqueue([first] + others)
      #expect(await origin.waitForWaiting("/held", 1))
      batch.cancel()
      let results = await batch.results
      #expect(results[0].text == "ok")
      #expect(results.dropFirst().allSatisfy { $0.code == .cancelled })
    }
  }
}
