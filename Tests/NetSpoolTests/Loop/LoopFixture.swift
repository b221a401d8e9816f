import Testing

@testable import NetSpool

/// A loop on the test's thread that reads its mailbox, until a condition holds.
final class LoopFixture {
  let loop: EventLoop
  private let mailbox: Mailbox<Int>
  private var seen: [Int] = []
  private var isOver: ([Int]) -> Bool = { _ in false }
  private var close: (() -> Void)?
  private(set) var turns = 0

  init(_ mailbox: Mailbox<Int>) throws {
    self.mailbox = mailbox
    loop = try EventLoop(mailbox: mailbox)
    loop.onTurn = { [unowned self] in turn() }
  }

  private func turn() {
    var messages: [Int] = []
    mailbox.drain(into: &messages)
    if !messages.isEmpty { turns += 1 }
    seen += messages
    if isOver(seen) {
      close?()
      close = nil
      loop.stop()
    } else if !mailbox.fallAsleep() {
      loop.markDirty()
    }
  }

  /// Serves a socket for longer than all of a round may take.
  func serveSlowly() -> Microseconds {
    let began = MonotonicClock.now
    while MonotonicClock.now < began + Turn.length + 2_000 {}
    return loop.didServeSocket(0, since: began)
  }

  /// Runs until the condition holds after a turn, closes the test's handles and the loop's, and proves that
  /// none is left.
  func run(until isOver: @escaping ([Int]) -> Bool, _ close: @escaping () -> Void = {}) -> [Int] {
    self.isOver = isOver
    self.close = close
    loop.markDirty()
    loop.run()
    #expect(loop.finish() == 0)
    return seen
  }
}
