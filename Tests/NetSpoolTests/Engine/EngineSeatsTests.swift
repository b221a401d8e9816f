import Testing

@testable import NetSpool

struct EngineSeatsTests {
  /// What all loops hear of a change on one: by how many more engines are starved; nil: nothing.
  private func add(
    _ waiting: Int, _ running: Int, on loop: Int = 0, to seats: borrowing EngineSeats
  ) -> Int? {
    guard let change = seats.add(waiting: waiting, running: running, on: loop) else { return nil }
    return seats.note(change)
  }

  @Test func `a loop that waits for more tells no other`() {
    let seats = EngineSeats(loops: 2)
    let heard = [1, 1, 1, -1, -1].map { add($0, 0, to: seats) }
    #expect(heard == [1, nil, nil, nil, nil])
    let (waiting, isRunning) = (seats.waiting, seats.isRunning)
    #expect(waiting == 1 && !isRunning)
  }

  @Test func `an engine is starved while it waits on any loop and runs on none`() {
    let seats = EngineSeats(loops: 2)
    let steps = [(1, 0, 0), (1, 0, 1), (-1, 1, 1), (0, -1, 1), (-1, 0, 0)]
    let heard = steps.map { add($0.0, $0.1, on: $0.2, to: seats) }
    #expect(heard == [1, 0, -1, 1, -1])
    let left = (seats.waiting, seats.running)
    #expect(left == (0, 0))
  }

  @Test func `the next goes first once, until it runs`() {
    let seats = EngineSeats(loops: 1)
    var answers: [Bool] = []
    _ = add(1, 0, to: seats)
    for _ in 0..<2 { answers.append(seats.letNextGoFirst()) }
    _ = add(0, 1, to: seats)
    answers.append(seats.letNextGoFirst())
    _ = add(0, -1, to: seats)
    answers.append(seats.letNextGoFirst())
    #expect(answers == [true, false, false, true])
  }
}
