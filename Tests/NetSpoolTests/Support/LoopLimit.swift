import Testing

@testable import NetSpool
@testable import TestSupport

/// A limit of time by the clock of an operation's loop. It is over when the loop has come to a timer of that length and has
/// gone round some times more: what was due before has been done by then, however late a busy machine lets the loop go on.
final class LoopLimit: Sendable {
  private let isOver = Flag()
  private let isMissed = Flag()
  let time: Duration

  init(_ time: Duration) { self.time = time }

  /// Begins, behind what has been asked of the operation so far.
  func begin(for operation: NetworkOperation) {
    operation.perform { [self] core in
      core.ring(at: MonotonicClock.now + Microseconds(time / .microseconds(1))) { [self] in isOver.set() }
    }
  }

  /// Loop thread, in a closure of an engine that delivers there: what was promised in time has come.
  func keep() { if isOver.isSet { isMissed.set() } }

  /// Nothing came too late.
  var isKept: Bool { !isMissed.isSet }
}

extension Scheduler {
  /// Rounds behind a limit in which what was due at the same time is done.
  private static var grace: Int { 64 }

  fileprivate func ring(at due: Microseconds, _ body: @escaping @Sendable () -> Void) {
    let left = due - MonotonicClock.now
    guard left > 0 else { return goRound(Self.grace, body) }
    timers.after(milliseconds: UInt64(left / 1_000 + 1)) { [unowned self] in ring(at: due, body) }
  }

  fileprivate func ring(when isSo: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void) {
    if isSo() { return body() }
    timers.after(milliseconds: 1) { [unowned self] in ring(when: isSo, body) }
  }

  private func goRound(_ times: Int, _ body: @escaping @Sendable () -> Void) {
    if times == 0 { return body() }
    port.perform(of: QueueDriver.Command.house) { core in core.goRound(times - 1, body) }
  }
}

extension NetworkOperation {
  /// What is so on its loop as soon as something else is.
  func onLoop<Value: Sendable>(
    when isSo: @escaping @Sendable () -> Bool, _ read: @escaping @Sendable () -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      perform { core in core.ring(when: isSo) { continuation.resume(returning: read()) } }
    }
  }

  /// What is so on its loop when so much of the loop's time has passed.
  func onLoop<Value: Sendable>(after time: Duration, _ read: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      perform { core in
        core.ring(at: MonotonicClock.now + Microseconds(time / .microseconds(1))) {
          continuation.resume(returning: read())
        }
      }
    }
  }
}

extension NetworkEngine {
  /// Enqueues it; its end must come within so much of the loop's time. The engine's closures run on the loop thread.
  func enqueue(_ operation: NetworkOperation, toEndWithin time: Duration) -> LoopLimit {
    let limit = LoopLimit(time)
    operation.onFinal { _ in limit.keep() }
    enqueue(operation)
    limit.begin(for: operation)
    return limit
  }

  /// Enqueues it and waits for its end, held against the limit.
  func end(
    of operation: NetworkOperation, within time: Duration, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> Ending {
    let limit = enqueue(operation, toEndWithin: time)
    let ending = await operation.end()
    #expect(limit.isKept, "later than \(time): \(ending)", sourceLocation: sourceLocation)
    return ending
  }
}
