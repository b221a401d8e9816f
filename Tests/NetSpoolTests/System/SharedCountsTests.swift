import Testing

@testable import NetSpool
@testable import TestSupport

struct SharedCountsTests {
  enum Name: Int, CaseIterable { case first, second }

  private final class Shared: Sendable {
    let counts: SharedCounts<Name>
    let place = PublishedOnce<Thing>()

    init(lines: Int) { counts = SharedCounts(lines: lines) }
  }

  private final class Thing: Sendable {}

  private static let tasks = 8

  @Test(arguments: [1, 3, 32])
  func `what threads add is summed, each count by itself`(lines: Int) async throws {
    let shared = Shared(lines: lines)
    try await atOnce(Self.tasks) { _ in
      for _ in 0..<1_000 {
        shared.counts.add(2, to: .first)
        shared.counts.add(-1, to: .second)
      }
    }
    #expect(shared.counts[.first] == 2_000 * Self.tasks && shared.counts[.second] == -1_000 * Self.tasks)
  }

  @Test func `a line with one writer says what stands there`() {
    let counts = SharedCounts<Name>(lines: 2)
    #expect(counts.add(3, to: .second, ofLine: 1) == 3)
    #expect(counts.add(-1, to: .second, ofLine: 1) == 2)
    #expect(counts.add(5, to: .second, ofLine: 0) == 5)
    #expect(counts[.second] == 7 && counts[.first] == 0)
  }

  @Test func `a number is given once`() async throws {
    let (shared, given) = (Shared(lines: 4), Journal<UInt64>())
    try await atOnce(Self.tasks) { _ in for _ in 0..<1_000 { given.add(shared.counts.next(.first)) } }
    let numbers = Set(given.entries)
    #expect(numbers.count == 1_000 * Self.tasks && !numbers.contains(0))
  }

  @Test func `what is published is found by all, and released with its place`() async throws {
    weak var left: Thing?
    do {
      let (shared, thing, found) = (Shared(lines: 1), Thing(), Counter())
      left = thing
      #expect(shared.place.object == nil)
      shared.place.publish(thing)
      try await atOnce(Self.tasks) { _ in if shared.place.object === thing { found.add() } }
      #expect(found.value == Self.tasks)
    }
    #expect(left == nil)
  }
}
