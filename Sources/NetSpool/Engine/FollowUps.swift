internal import Synchronization

/// Work that goes on with an answer once its operation has ended: NetSpoolImages makes thumbnails. Any thread.
package protocol FollowUp: AnyObject, Sendable {
  /// The owner of the answer.
  var operation: NetworkOperation { get }
  /// Ends it, with its final event. Nothing happens once it has ended.
  func end(with failure: NetworkError)
  /// Counts while it waits.
  func changePriority(to priority: NetworkRequest.Priority)
}

/// The follow-ups of one engine, from before their operations are enqueued until their final events are delivered: who
/// cancels operations, changes their priority or shuts the engine down means these as well.
final class FollowUps: Sendable {
  private struct State {
    var all: [ObjectIdentifier: [any FollowUp]] = [:]
    var whenEmpty: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  func add(_ followUp: any FollowUp) {
    state.withLock { $0.all[ObjectIdentifier(followUp.operation), default: []].append(followUp) }
  }

  func remove(_ followUp: any FollowUp) {
    let tell: [@Sendable () -> Void] = state.withLock { state in
      let key = ObjectIdentifier(followUp.operation)
      state.all[key]?.removeAll { $0 === followUp }
      if state.all[key]?.isEmpty == true { state.all[key] = nil }
      guard state.all.isEmpty else { return [] }
      defer { state.whenEmpty = [] }
      return state.whenEmpty
    }
    for done in tell { done() }
  }

  func changePriority(of operation: NetworkOperation, to priority: NetworkRequest.Priority) {
    let theirs = state.withLock { $0.all[ObjectIdentifier(operation)] ?? [] }
    for followUp in theirs { followUp.changePriority(to: priority) }
  }

  /// Ends those that are at work on an answer; the others end with their operations.
  func end(with failure: NetworkError, where matches: (NetworkOperation) -> Bool) {
    let all = state.withLock { $0.all.values.flatMap { $0 } }
    for followUp in all
    where followUp.operation.shared.withLock({ $0.outcome != nil }) && matches(followUp.operation) {
      followUp.end(with: failure)
    }
  }

  /// Ends those that only wait to ask again, which a closed engine no longer does.
  func endPauses() {
    let all = state.withLock { $0.all.values.flatMap { $0 } }
    for case let pause as ReconnectPause in all { pause.end(with: NetworkError(.engineClosed)) }
  }

  var isEmpty: Bool { state.withLock { $0.all.isEmpty } }

  /// Calls back once: at once when there are none.
  func whenEmpty(_ done: @escaping @Sendable () -> Void) {
    let isEmpty = state.withLock { state in
      if !state.all.isEmpty { state.whenEmpty.append(done) }
      return state.all.isEmpty
    }
    if isEmpty { done() }
  }
}

extension NetworkEngine {
  /// Before its operation is enqueued.
  package func follow(_ followUp: any FollowUp) { followUps.add(followUp) }

  /// It has the answer, and its queue waits for it from now on as for an operation: until it leaves.
  package func willFollow() { driver.retain() }

  /// Its final event has been delivered.
  package func leave(_ followUp: any FollowUp, hasFollowed: Bool) {
    followUps.remove(followUp)
    if hasFollowed { driver.release() }
  }

  /// On the loop, as for the operations themselves; where there is none any more, here.
  func endFollowUps(_ failure: NetworkError, where matches: @escaping @Sendable (NetworkOperation) -> Bool) {
    if followUps.isEmpty { return }
    let end: @Sendable () -> Void = { [self] in followUps.end(with: failure, where: matches) }
    driver.port(of: driver.home).perform(of: id, { _ in end() }, otherwise: end)
  }
}
