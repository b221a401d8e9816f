internal import Synchronization

/// The watchdog: says who had the loop for longer than others should wait. Loop thread.
struct HeldLog {
  private var saidAt: Microseconds?
  private var left = 0

  /// At most so often.
  private static let period: Microseconds = 1_000_000

  mutating func note(
    _ holder: LoopHolder, for time: Microseconds, _ running: [Transfer], _ driver: QueueDriver
  ) {
    guard driver.logs.withLock({ !$0.isEmpty }) else { return }
    let (name, engine) = Self.name(of: holder, running)
    let now = MonotonicClock.now
    if let saidAt, now - saidAt < Self.period {
      left += 1
      return
    }
    let more = left > 0 ? ", and \(left) times more since the last line" : ""
    (saidAt, left) = (now, 0)
    let log = driver.logs.withLock { logs in
      engine.flatMap { logs[$0] } ?? logs.min { $0.key < $1.key }?.value
    }
    log?("the loop was held for \(time / 1000) ms by \(name)\(more)")
  }

  /// For a socket the origin and whose operation it was, if it is one of a transfer's.
  private static func name(of holder: LoopHolder, _ running: [Transfer]) -> (name: String, engine: UInt64?) {
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
      else { return ("a socket", nil) }
      return (origin.text, operation.engine.id)
    }
  }
}
