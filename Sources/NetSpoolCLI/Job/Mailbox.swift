import Synchronization

/// Brings finished fetches from the network's threads to the job's. The first of a batch pays the wake-up.
final class Mailbox: Sendable {
  struct Letter: Sendable {
    let id: Int
    let outcome: FetchOutcome
  }

  private let letters = Mutex<[Letter]>([])
  private let wake: @Sendable () -> Void

  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func post(_ letter: Letter) {
    let isFirst = letters.withLock { letters in
      letters.append(letter)
      return letters.count == 1
    }
    if isFirst { wake() }
  }

  /// Everything posted since the last call, in order.
  func takeAll() -> [Letter] {
    letters.withLock { letters in
      let all = letters
      letters = []
      return all
    }
  }
}
