import Synchronization

/// What happened, in order.
final class Journal<Entry: Sendable>: Sendable {
  private let state = Mutex<[Entry]>([])

  func add(_ entry: Entry) { state.withLock { $0.append(entry) } }
  var entries: [Entry] { state.withLock { $0 } }
  var count: Int { state.withLock { $0.count } }
  func removeAll() { state.withLock { $0 = [] } }
}
