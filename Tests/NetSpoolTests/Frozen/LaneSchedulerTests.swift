import Testing

@testable import NetSpool
@testable import TestSupport

/// Whose turn it is. Times in seconds.
struct LaneSchedulerTests {
  static let never = Microseconds(1) << 60

  private struct Fixture {
    var scheduler = LaneScheduler()

    /// So many requests, from number 1 on.
    init(_ count: UInt64 = 0, isUnordered: Bool = false, lane: (UInt64) -> String = { _ in "a" }) {
      for number in 0..<count { add(number + 1, lane: lane(number + 1), isUnordered: isUnordered) }
    }

    mutating func add(
      _ number: UInt64, lane: String = "a", isUnordered: Bool = false, due: Double = 0,
      expires: Microseconds = LaneSchedulerTests.never
    ) {
      scheduler.add(
        FrozenID(number), lane: LaneKey(lane), isUnordered: isUnordered, due: Self.time(due), expires: expires
      )
    }

    static func time(_ seconds: Double) -> Microseconds { Microseconds(seconds * 1_000_000) }

    /// All that go at this moment.
    mutating func launched(at seconds: Double) -> [UInt64] {
      var numbers: [UInt64] = []
      while let id = scheduler.next(at: Self.time(seconds)) { numbers.append(id.number) }
      return numbers
    }

    mutating func fail(_ number: UInt64, at seconds: Double, until due: Double) {
      scheduler.didFail(FrozenID(number), at: Self.time(seconds), policy: .standard, random: 0.5)
      scheduler.wait(FrozenID(number), until: Self.time(due))
    }

    mutating func end(_ number: UInt64) {
      scheduler.didSucceed(FrozenID(number))
      scheduler.remove(FrozenID(number))
    }
  }

  @Test func `a lane sends one at a time in order`() {
    var fixture = Fixture(3)
    #expect(fixture.launched(at: 0) == [1])
    fixture.end(1)
    #expect(fixture.launched(at: 0) == [2])
    // One that waits holds up its lane
    fixture.fail(2, at: 0, until: 10)
    #expect(fixture.launched(at: 9) == [])
    #expect(fixture.scheduler.nextDue == Fixture.time(10))
    #expect(fixture.launched(at: 10) == [2])
    fixture.end(2)
    #expect(fixture.launched(at: 10) == [3])
  }

  @Test func `the next of a lane is recorded with the outcome before it, and sent once that is on the disk`()
  {
    var fixture = Fixture(3)
    #expect(fixture.launched(at: 0) == [1])
    fixture.scheduler.end(FrozenID(1))
    // A disk that has no room for the outcome: the next waits.
    #expect(fixture.scheduler.next(at: 0, runsAhead: false) == nil)
    fixture.scheduler.remove(FrozenID(1))
    #expect(fixture.launched(at: 0) == [2])
    fixture.scheduler.end(FrozenID(2))
    #expect(fixture.scheduler.count == 2 && fixture.scheduler.contains(FrozenID(2)))
    #expect(fixture.launched(at: 0) == [3])
    #expect(fixture.scheduler.isAhead(FrozenID(3)))
    fixture.scheduler.remove(FrozenID(2))
    #expect(!fixture.scheduler.isAhead(FrozenID(3)))
  }

  @Test func `a request that need not wait for the network holds up no other`() {
    var fixture = Fixture(3) { "\($0)" }
    #expect(fixture.launched(at: 0) == [1, 2, 3])
    fixture.scheduler.wait(FrozenID(1), until: .max, forNetwork: true)
    fixture.fail(2, at: 0, until: 10)
    // Given one that waits for the network, and one for its time
    for number: UInt64 in 1...2 { fixture.scheduler.release(FrozenID(number), at: Fixture.time(1)) }
    // Then the first goes at once, and the others as they would have
    #expect(fixture.launched(at: 1) == [1])
    #expect(fixture.launched(at: 9) == [])
    #expect(fixture.launched(at: 10) == [2])
    #expect(fixture.scheduler.inFlight == 3)
  }

  @Test func `a lane that is empty is forgotten, after its failures`() {
    var fixture = Fixture(1)
    for round in 0..<5 {
      #expect(fixture.launched(at: Double(round) * 100) == [1])
      fixture.fail(1, at: Double(round) * 100, until: Double(round) * 100 + 50)
    }
    // Given a lane that sleeps after its failures, and whose only request is cancelled
    fixture.scheduler.remove(FrozenID(1))
    #expect(fixture.scheduler.lanes.count == 1)
    // Then it is kept no longer than it would have slept
    let due = fixture.scheduler.nextDue ?? 0
    #expect(fixture.launched(at: Double(due) / 1e6) == [])
    #expect(fixture.scheduler.lanes.count == 0)
    // And one that had no failures not at all
    fixture.add(2)
    #expect(fixture.launched(at: 1_000) == [2])
    fixture.end(2)
    #expect(fixture.scheduler.lanes.count == 0)
  }

  @Test func `lanes take turns and do not wait for each other`() {
    var fixture = Fixture(9) { ["a", "b", "c"][Int($0) % 3] }
    #expect(Set(fixture.launched(at: 0)) == [1, 2, 3])
    fixture.fail(1, at: 0, until: 100)
    fixture.end(2)
    fixture.end(3)
    #expect(Set(fixture.launched(at: 1)) == [5, 6])
  }

  @Test func `an unordered lane sends four at a time`() {
    var fixture = Fixture(6, isUnordered: true)
    #expect(fixture.launched(at: 0) == [1, 2, 3, 4])
    fixture.fail(1, at: 0, until: 50)
    #expect(fixture.launched(at: 1) == [5])
    // One that wants order is a wall
    fixture.add(7)
    fixture.add(8, isUnordered: true)
    for number: UInt64 in 2...5 { fixture.end(number) }
    #expect(fixture.launched(at: 2) == [6])
    fixture.end(6)
    #expect(fixture.launched(at: 2) == [])
    #expect(fixture.launched(at: 50) == [1])
    fixture.end(1)
    #expect(fixture.launched(at: 50) == [7])
    fixture.end(7)
    #expect(fixture.launched(at: 50) == [8])
  }

  @Test func `at most eight go while thawing`() {
    var fixture = Fixture(20) { "lane \($0)" }
    fixture.scheduler.openingJitter = 0
    fixture.scheduler.thaw(at: 0) { 0.5 }
    #expect(fixture.launched(at: 0).count == 8)
    // New ones join the end
    fixture.add(21, lane: "new")
    for number: UInt64 in 1...20 where fixture.scheduler.isInFlight(FrozenID(number)) { fixture.end(number) }
    #expect(fixture.launched(at: 1).count == 8)
    // Once the old ones are through, more may go
    for number: UInt64 in 1...20 { fixture.end(number) }
    for number: UInt64 in 22...60 { fixture.add(number, lane: "lane \(number)") }
    #expect(fixture.launched(at: 2).count >= 39)
  }

  @Test func `a request that cannot go does not keep the others at eight`() {
    var fixture = Fixture(20) { "lane \($0)" }
    fixture.scheduler.thaw(at: Fixture.time(10)) { 0.5 }
    // Given lanes that have not begun yet, and then one whose engine does not come
    #expect(fixture.launched(at: 10) == [])
    #expect(fixture.launched(at: 11).count == 8)
    fixture.scheduler.wait(FrozenID(1), until: .max, forNetwork: true)
    for number: UInt64 in 2...20 { fixture.end(number) }
    #expect(fixture.launched(at: 12) == [])
    for number: UInt64 in 21...40 { fixture.add(number, lane: "lane \(number)") }
    #expect(fixture.launched(at: 12).count == 20)
    // When it may go, all that wait are old ones again
    for number: UInt64 in 41...60 { fixture.add(number, lane: "new \(number)", due: 20) }
    fixture.scheduler.wake(FrozenID(1), at: Fixture.time(15), random: 0)
    for number: UInt64 in 21...40 { fixture.end(number) }
    #expect(fixture.launched(at: 20).count == 8)
  }

  @Test func `lanes begin one after the other`() {
    var fixture = Fixture(4) { "lane \($0)" }
    fixture.scheduler.isSuspended = true
    #expect(fixture.launched(at: 0) == [])
    fixture.scheduler.isSuspended = false
    var random = SplitMix64(seed: 5)
    fixture.scheduler.thaw(at: Fixture.time(10)) { random.unit() }
    var moments: Set<Double> = []
    for step in 0...200 {
      let seconds = 10 + Double(step) / 100
      if !fixture.launched(at: seconds).isEmpty { moments.insert(seconds) }
    }
    #expect(moments.count >= 3)
    #expect(fixture.scheduler.inFlight == 4)
  }

  @Test func `the network ends the wait of what could not be sent`() {
    var fixture = Fixture()
    fixture.scheduler.openingJitter = 0
    fixture.add(1)
    fixture.add(2, lane: "b")
    #expect(fixture.launched(at: 0) == [1, 2])
    fixture.scheduler.wait(FrozenID(1), until: Fixture.time(300), forNetwork: true)
    fixture.scheduler.wait(FrozenID(2), until: Fixture.time(300))
    fixture.scheduler.thaw(at: Fixture.time(20)) { 0 }
    #expect(fixture.launched(at: 20) == [1])
    #expect(fixture.launched(at: 300) == [2])
  }

  @Test func `five failures in a row put a lane to sleep and one goes to see`() {
    var fixture = Fixture(8, isUnordered: true)
    // Given five failures in a row, and others in flight
    #expect(fixture.launched(at: 0) == [1, 2, 3, 4])
    for number: UInt64 in 1...4 { fixture.fail(number, at: 0, until: 0) }
    #expect(fixture.launched(at: 0).count == 4)
    fixture.fail(1, at: 0, until: 0)
    for number: UInt64 in 2...4 { fixture.scheduler.wait(FrozenID(number), until: 0) }
    // Then it sleeps for half of 16 s, and sends one
    #expect(fixture.launched(at: 7.9) == [])
    #expect(fixture.launched(at: 8).count == 1)
    // When that one is answered, then the lane is wide again
    fixture.end(1)
    #expect(fixture.launched(at: 8).count == 4)
  }

  @Test func `a halted lane waits until it is freed`() {
    var fixture = Fixture(2)
    #expect(fixture.launched(at: 0) == [1])
    fixture.scheduler.halt(LaneKey("a"), by: FrozenID(1))
    fixture.scheduler.remove(FrozenID(1))
    #expect(fixture.launched(at: 100) == [])
    // Other lanes go on
    fixture.add(3, lane: "b")
    #expect(fixture.launched(at: 100) == [3])
    fixture.scheduler.free(from: FrozenID(1))
    #expect(fixture.launched(at: 100) == [2])
  }

  @Test func `a revived one goes back to its place`() {
    var fixture = Fixture(4)
    #expect(fixture.launched(at: 0) == [1])
    fixture.scheduler.remove(FrozenID(2))
    fixture.end(1)
    #expect(fixture.launched(at: 0) == [3])
    fixture.add(2)
    fixture.end(3)
    #expect(fixture.launched(at: 0) == [2])
    fixture.end(2)
    #expect(fixture.launched(at: 0) == [4])
  }

  @Test func `what is too old is named once`() {
    var fixture = Fixture()
    fixture.add(1, due: 100, expires: Fixture.time(5))
    fixture.add(2, due: 100, expires: Fixture.time(7))
    fixture.add(3, lane: "b", expires: Fixture.time(6))
    #expect(fixture.launched(at: 0) == [3])
    #expect(fixture.scheduler.nextDue == Fixture.time(5))
    #expect(fixture.scheduler.nextExpired(at: Fixture.time(5)) == FrozenID(1))
    #expect(fixture.scheduler.nextExpired(at: Fixture.time(6)) == nil)
    fixture.scheduler.remove(FrozenID(1))
    #expect(fixture.scheduler.nextExpired(at: Fixture.time(7)) == FrozenID(2))
  }

  /// Whatever happens, a lane keeps its order and its width.
  @Test(arguments: 0..<20 as Range<UInt64>) func `random events keep order and width`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var fixture = Fixture()
    var lanes: [UInt64: Int] = [:]
    var inFlight: Set<UInt64> = []
    var next: UInt64 = 1
    for step in 0..<2_000 {
      let now = Double(step) / 10
      switch random.next() % 8 {
      case 0...2:
        let lane = Int(random.next() % 5)
        fixture.add(next, lane: "\(lane)", isUnordered: lane == 4)
        lanes[next] = lane
        next += 1
      case 3, 4:
        guard let number = inFlight.sorted().randomElement(using: &random) else { continue }
        inFlight.remove(number)
        if random.chance(70) {
          fixture.end(number)
          lanes[number] = nil
        } else {
          fixture.fail(number, at: now, until: now + Double(random.next() % 30))
        }
      case 5 where random.chance(5): fixture.scheduler.isSuspended = true
      case 6 where random.chance(20):
        fixture.scheduler.isSuspended = false
        fixture.scheduler.thaw(at: Fixture.time(now)) { 0.5 }
      case 7:
        guard let number = lanes.keys.sorted().randomElement(using: &random) else { continue }
        fixture.scheduler.remove(FrozenID(number))
        lanes[number] = nil
        inFlight.remove(number)
      default: break
      }
      for number in fixture.launched(at: now) {
        let lane = lanes[number]
        #expect(inFlight.insert(number).inserted)
        let companions = inFlight.filter { lanes[$0] == lane }
        #expect(companions.count <= (lane == 4 ? 4 : 1), "seed \(seed), step \(step)")
        if lane != 4 {
          #expect(lanes.filter { $0.value == lane }.keys.min() == number, "seed \(seed), step \(step)")
        }
      }
      #expect(fixture.scheduler.inFlight == inFlight.count)
      #expect(fixture.scheduler.count == lanes.count)
    }
    // Then everything goes in the end
    fixture.scheduler.isSuspended = false
    fixture.scheduler.thaw(at: Fixture.time(10_000)) { 0 }
    for round in 0..<10_000 where !fixture.scheduler.isEmpty {
      inFlight.formUnion(fixture.launched(at: 10_000 + Double(round)))
      for number in inFlight { fixture.end(number) }
      inFlight = []
    }
    #expect(fixture.scheduler.isEmpty)
  }
}
