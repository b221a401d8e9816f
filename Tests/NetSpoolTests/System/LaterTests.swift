import Testing

@testable import NetSpool
@testable import TestSupport

struct LaterTests {
  /// An hour before it would come.
  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
  func `a call that is cancelled is forgotten at once`(order: [Int]) {
    var flags = (0..<3).map { _ in Flag() }
    let tickets = flags.map { flag in Later.run(after: .seconds(3_600)) { flag.set() } }
    weak var held: Flag?
    for place in order {
      held = flags[place]
      flags[place] = Flag()
      #expect(held != nil)
      if let ticket = tickets[place] { Later.cancel(ticket) }
      #expect(held == nil)
    }
  }
}
