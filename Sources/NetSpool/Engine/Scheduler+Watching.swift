internal import Synchronization

/// When it was last said who had held the loop, and how often it has not been said since.
struct HeldLog {
  private var saidAt: Microseconds?
  private var left = 0

  /// At most so often.
  private static let period: Microseconds = 1_000_000

  /// The line to say, if it is time for one.
  mutating func line(_ name: String, _ time: Microseconds, now: Microseconds) -> String? {
    if let saidAt, now - saidAt < Self.period {
      left += 1
      return nil
    }
    defer { (saidAt, left) = (now, 0) }
    let more = left > 0 ? ", and \(left) times more since the last line" : ""
    return "the loop was held for \(time / 1000) ms by \(name)\(more)"
  }
}

/// The watchdog: says who had the loop for longer than others should wait.
extension Scheduler {
  func wasHeld(by holder: LoopHolder, for time: Microseconds) {
    guard driver.logs.withLock({ !$0.isEmpty }) else { return }
    let (name, engine) = name(of: holder)
    guard let line = heldLog.line(name, time, now: MonotonicClock.now) else { return }
    let log = driver.logs.withLock { logs in
      engine.flatMap { logs[$0] } ?? logs.min { $0.key < $1.key }?.value
    }
    log?(line)
  }

  /// A stream, a disk or a mistake of ours keeps an operation for longer than its limits say.
  func endStalled(_ operation: NetworkOperation, _ failure: NetworkError) {
    say("\(failure.reason ?? "") of \(operation.loop.origin?.text ?? "an answer")", to: operation.engine)
    withdraw(operation, failure)
  }

  func say(_ line: String, to engine: NetworkEngine) { driver.logs.withLock { $0[engine.id] }?(line) }

  /// For a socket the origin and whose operation it was, if it is one of a transfer's.
  private func name(of holder: LoopHolder) -> (name: String, engine: UInt64?) {
    switch holder {
    case .commands: return ("commands", nil)
    case .answers: return ("finished transfers", nil)
    case .closures: return ("closures on the loop thread", nil)
    case .timer: return ("a timer", nil)
    case .transfers: return ("libcurl", nil)
    case .socket(let descriptor):
      let port = StraySocket.localPort(of: descriptor)
      let transfer = running.first { port != nil && $0.handle.localPort == port }
      guard let operation = transfer?.exchange.owner as? NetworkOperation, let origin = operation.loop.origin
      else {
        return ("a socket", nil)
      }
      return (origin.text, operation.engine.id)
    }
  }
}
