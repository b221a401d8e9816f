internal import Synchronization

/// Streams that stand still. Loop thread.
final class StreamWatch {
  /// The operations that wait for their streams, by their ids.
  // Safe because the loop thread alone has it, and a table calls nobody back.
  @safe @exclusivity(unchecked) private var watched: [UInt64: NetworkOperation] = [:]
  private var timer: TimerTable.Key?
  private static let milliseconds: UInt64 = 50
  private let context: LoopContext

  init(_ context: LoopContext) { self.context = context }

  /// Looks at the streams of an operation for as long as it waits for them: each that shares the body has the limits that it
  /// was given, whatever a stream of another's, a disk or a mistake of ours does.
  func begin(_ operation: NetworkOperation) {
    guard watched.updateValue(operation, forKey: operation.id) == nil else { return }
    operation.loop.extras?.fanout?.beginWatch()
    if timer == nil { lookSoon() }
  }

  private func lookSoon() {
    timer = context.timers.after(milliseconds: Self.milliseconds) { [unowned self] in
      timer = nil
      let now = MonotonicClock.now
      for operation in Array(watched.values) { look(at: operation, now: now) }
      if !watched.isEmpty { lookSoon() }
    }
  }

  /// An operation that has ended, or does not wait for them any more.
  func end(_ operation: NetworkOperation) {
    if !watched.isEmpty { watched[operation.id] = nil }
  }

  private func look(at operation: NetworkOperation, now: Microseconds) {
    var isSourceBlameless = true
    switch operation.loop.phase {
    case .running where operation.loop.transfer?.exchange.hasYielded ?? false: break
    case .publishing: break
    // What it reads from may be what it waits for, and has limits of its own.
    case .playing, .following: isSourceBlameless = false
    default: return end(operation)
    }
    guard let fanout = operation.loop.extras?.fanout else { return }
    let standstill = isSourceBlameless ? fanout.standstill(now: now) : 0
    var late: [(NetworkOperation, NetworkError)] = []
    operation.forEachRecipient { recipient in
      if let failure = lateness(of: recipient, in: fanout, standstill, now: now) {
        late.append((recipient, failure))
      }
    }
    for (recipient, failure) in late {
      let line = "\(failure.reason ?? "") of \(recipient.loop.origin?.text ?? "an answer")"
      context.port.driver.logs.withLock { $0[recipient.engine.id] }?(line)
      context.withdraw(recipient, failure)
    }
  }

  /// The limit that a recipient has passed: with a stream of its own, or because it waits for another's.
  private func lateness(
    of recipient: NetworkOperation, in fanout: SinkFanout, _ standstill: Microseconds, now: Microseconds
  ) -> NetworkError? {
    let limits = recipient.timeLimits(recipient.sent)
    let stall = limits.stall?.microseconds ?? .max
    let delays = fanout.delays(by: recipient.id, now: now)
    for delay in delays {
      if delay.time >= limits.reader?.microseconds ?? .max { return NetworkError(.timedOut, cause: .reader) }
      if !delay.waitsForReader, delay.time >= stall { return Self.stalled("stream \(delay.number)") }
    }
    return delays.isEmpty && standstill >= stall ? Self.stalled("another's stream") : nil
  }

  private static func stalled(_ what: String) -> NetworkError {
    NetworkError(.timedOut, cause: .sink, reason: "stalled: sink, \(what)", sendState: .answered)
  }
}
