internal import Dispatch
internal import Synchronization

/// Runs closures when their time has come, on queues of Dispatch, whose own timers need descriptors: where none is left, it
/// ends the process. A thread sleeps until then, as long as there is something to come.
enum Later {
  /// A call that is to come, for who cancels it.
  struct Ticket: Sendable {
    fileprivate let time: Microseconds
    fileprivate let number: UInt64
  }

  private struct Call: Sendable {
    let ticket: Ticket
    let queue: DispatchQueue
    let body: @Sendable () -> Void
  }

  private struct Calls: InboxWork {
    /// The soonest last.
    var all: [Call] = []
    var made: UInt64 = 0
    /// The soonest is another than the thread knows.
    var isWaiting = false

    /// Behind which this one comes: the first that is no later.
    func place(of time: Microseconds, _ number: UInt64) -> Int {
      var range = 0..<all.count
      while !range.isEmpty {
        let middle = (range.lowerBound + range.upperBound) / 2
        let other = all[middle].ticket
        range =
          (other.time, other.number) > (time, number)
          ? middle + 1..<range.upperBound : range.lowerBound..<middle
      }
      return range.lowerBound
    }

    mutating func takeDue(at now: Microseconds) -> [Call] {
      let first = place(of: now, .max)
      defer { all.removeSubrange(first...) }
      return all[first...].reversed()
    }
  }

  private static let inbox = Inbox(Calls())
  private static let crew = InboxCrew(name: "netspool-later", isDetached: true) {
    while let due = inbox.next(look) { for call in due { call.queue.async(execute: call.body) } }
  }

  /// Any thread. Where the system has no thread to give, its time has come now, and there is nothing to cancel.
  @discardableResult
  static func run(
    after delay: Duration, on queue: DispatchQueue = .global(), _ body: @escaping @Sendable () -> Void
  ) -> Ticket? {
    let time = MonotonicClock.now + delay.microseconds
    let ticket = inbox.send(by: crew) { calls in
      calls.made += 1
      let ticket = Ticket(time: time, number: calls.made)
      let place = calls.place(of: time, ticket.number)
      calls.isWaiting = place == calls.all.count
      calls.all.insert(Call(ticket: ticket, queue: queue, body: body), at: place)
      return ticket
    }
    if ticket == nil { queue.async(execute: body) }
    return ticket
  }

  /// Forgets a call that has not come yet.
  static func cancel(_ ticket: Ticket) {
    inbox.withLock { calls in
      let place = calls.place(of: ticket.time, ticket.number)
      if place < calls.all.count, calls.all[place].ticket.number == ticket.number {
        calls.all.remove(at: place)
      }
    }
  }

  private static func look(_ calls: inout Calls, _ look: Inbox<Calls>.Look) -> Inbox<Calls>.Step<[Call]> {
    calls.isWaiting = false
    let due = calls.takeDue(at: MonotonicClock.now)
    if !due.isEmpty { return .take(due) }
    return calls.all.last.map { .sleep(until: $0.ticket.time) } ?? .end
  }
}
