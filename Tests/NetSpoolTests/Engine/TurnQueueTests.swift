import Testing

@testable import NetSpool
@testable import TestSupport

extension TurnQueue {
  /// The next command, if a command is next.
  fileprivate mutating func nextCommand() -> QueueDriver.Command? {
    if case .command(let command)? = next() { command } else { nil }
  }
}

@Suite struct TurnQueueTests {
  /// The engines whose commands come out, when these have come in; nil stands for what is nobody's own.
  private func order(of engines: [UInt64?]) -> [UInt64?] {
    let mailbox = Mailbox<QueueDriver.Command>()
    for engine in engines { mailbox.send(.perform({ _ in }, of: engine)) }
    var queue = TurnQueue()
    queue.take(from: mailbox)
    var order: [UInt64?] = []
    while let command = queue.nextCommand() { order.append(command.engine) }
    return order
  }

  private func many(_ count: Int, _ engine: UInt64?) -> [UInt64?] { Array(repeating: engine, count: count) }

  @Test func `of many, engines have turns`() throws {
    let order = order(of: many(1_000, 1) + [2] + many(10, 3))
    #expect(order.count == 1_011)
    #expect(try #require(order.firstIndex(of: 2)) == 8)
    #expect(try #require(order.lastIndex(of: 3)) < 32)
  }

  @Test func `works have a piece each between two commands, and between the turns of engines`() {
    for (count, apart) in [(40, 1), (1_000, 8)] {
      let mailbox = Mailbox<QueueDriver.Command>()
      for engine in many(count, 1) { mailbox.send(.perform({ _ in }, of: engine)) }
      var queue = TurnQueue()
      queue.take(from: mailbox)
      for _ in 0..<2 { queue.append(TurnQueue.Work { true }) }
      var order = ""
      for _ in 0..<4 * (apart + 1) {
        switch queue.next() {
        case .command?: order += "c"
        case .work(let work)?:
          order += "w"
          queue.append(work)
        case nil: order += "-"
        }
      }
      let commands = String(repeating: "c", count: apart)
      #expect(order == String(repeating: commands + "w", count: 4))
    }
  }

  @Test func `what is everybody's is done behind all before it and before all behind it`() {
    let expected: [UInt64?] = many(100, 1) + [nil, nil] + many(8, 2) + many(8, 1) + many(2, 2) + many(12, 1)
    #expect(order(of: many(100, 1) + [nil, nil] + many(10, 2) + many(20, 1)) == expected)
  }

  /// What came between two of nobody's own goes between them, in whatever order, and nothing stays behind.
  @Test(arguments: 1...(LongRun.isOn ? 300 : 20))
  func `whatever comes when, all of it is done`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let mailbox = Mailbox<QueueDriver.Command>()
    var queue = TurnQueue()
    var (sent, done): ([UInt64?], [UInt64?]) = ([], [])
    for _ in 0..<30 {
      for _ in 0..<[0, 1, 20, 100].randomElement(using: &random)! {
        let isOfNobody = Int.random(in: 0..<10, using: &random) == 0
        let engine: UInt64? = isOfNobody ? nil : .random(in: 1...3, using: &random)
        sent.append(engine)
        mailbox.send(.perform({ _ in }, of: engine))
      }
      queue.take(from: mailbox)
      for _ in 0..<Int.random(in: 0..<80, using: &random) {
        guard let command = queue.nextCommand() else { break }
        done.append(command.engine)
      }
    }
    for _ in 0..<3 {
      queue.take(from: mailbox)
      while let command = queue.nextCommand() { done.append(command.engine) }
    }
    #expect(Self.pieces(done) == Self.pieces(sent))
  }

  private static func pieces(_ engines: [UInt64?]) -> [[UInt64]] {
    engines.split(separator: nil, omittingEmptySubsequences: false).map { $0.compactMap { $0 }.sorted() }
  }
}
