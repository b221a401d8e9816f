import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Thousands of frozen requests, and who looks at them.
@Suite(.measured) struct FreezingCrowdTests {
  private static let count = isSanitized ? 3_000 : 30_000

  @Test func `looking at thirty thousand keeps no engine of the queue waiting`() async throws {
    let fixture = try FreezingFixture { $0.maySend = { _ in false } }
    try await fixture.live { engine in
      try await Self.freeze(Self.count, engine)
      let clock = await LoopClock(engine.configuration.queue)
      // Given a thread that reads them again and again
      let (isOver, looks) = (Flag(), Counter())
      async let reading: Void = blocking {
        while !isOver.isSet {
          if engine.frozenOperations.count == Self.count { looks.add() }
        }
      }
      #expect(await until { looks.value > 0 })
      // Then others are answered meanwhile
      let before = looks.value
      try await expectAnswer(on: engine.configuration.queue)
      #expect(await until { looks.value > before })
      try await expectAnswer(on: engine.configuration.queue)
      isOver.set()
      await reading
      expect(await clock.longestTurn, within: workMax)
    }
  }

  /// Dead letters are found by their numbers, not by reading all of them.
  @Test(.notSanitized(.timeIsNoMeasure))
  func `discarding a dead letter costs the same however many there are`() async throws {
    let fixture = try FreezingFixture { $0.maySend = { _ in false } }
    try await fixture.live { engine in
      func costOfDiscarding(among count: Int) async throws -> Duration {
        let ids = try await Self.freeze(count - engine.deadLetters.count, engine)
        for id in ids { engine.cancelFrozen(id: id) }
        #expect(await until { engine.deadLetters.count == count })
        let median = await blocking {
          let times = ids.prefix(51).map { id in
            work {
              // What is gone cannot be sent: its body went with it.
              #expect(throws: NetworkError.self) { try engine.revive(id: id) }
              engine.discardDeadLetter(id: id)
            }
          }
          return times.sorted()[25]
        }
        #expect(await until { engine.deadLetters.count == count - 51 })
        return median
      }
      let few = try await costOfDiscarding(among: 200)
      let many = try await costOfDiscarding(among: 6_000)
      // Thirty times as many: read one by one they would cost thirty times as much.
      expect(many, within: few * 5 + .microseconds(200))
    }
  }

  /// So many that wait on the disk; their numbers.
  @discardableResult
  private static func freeze(_ count: Int, _ engine: NetworkEngine) async throws -> [UInt64] {
    let ids = Journal<UInt64>()
    let letters = (0..<count).map { number in
      engine.letter("/letters", "\(number)").onFrozen { ids.add($0.id) }
    }
    engine.enqueue(letters)
    #expect(await until { ids.count == count })
    return ids.entries
  }
}
