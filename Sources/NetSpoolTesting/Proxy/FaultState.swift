import Synchronization

/// What a proxy's threads share: its toxics and its counts.
final class FaultState: Sendable {
  struct Counts: Sendable {
    var connections = 0
    var open = 0
    var passed: [FaultProxy.Direction: Int] = [:]
  }

  let originPort: UInt16
  let seed: UInt64
  let waker: Waker
  private let book = Mutex(FaultBook())
  private let counts = Mutex(Counts())

  init(originPort: UInt16, seed: UInt64, waker: Waker) {
    self.originPort = originPort
    self.seed = seed
    self.waker = waker
  }

  var toxics: FaultBook { book.withLock { $0 } }

  func changeToxics(_ body: (inout FaultBook) -> Void) {
    book.withLock { body(&$0) }
    waker.wake()
  }

  func count<T>(_ body: (inout Counts) -> T) -> T { counts.withLock { body(&$0) } }
}
