import Synchronization

/// Something that has happened.
final class Flag: Sendable {
  private let isUp = Mutex(false)
  var isSet: Bool { isUp.withLock { $0 } }
  func set() { isUp.withLock { $0 = true } }
}
