#if DEBUG
import Dispatch
@testable import NetSpool
import Synchronization

/// Has attempts recorded, which is how a body is read.
final class BodyReader: Sendable {
  private let store: FrozenStore
  private let bodies = Mutex<[UInt64: [UInt8]]>([:])

  init(_ store: FrozenStore) { self.store = store }

  /// The bodies that are what was written.
  func read(_ rows: [(number: UInt64, payload: [UInt8])]) -> [UInt64: [UInt8]] {
    let answered = DispatchGroup()
    for row in rows {
      answered.enter()
      store.submit(.attempt(row.number, payload: row.payload)) { [self] answer in
        if case .success(let receipt) = answer { bodies.withLock { $0[row.number] = receipt.body } }
        answered.leave()
      }
    }
    answered.wait()
    return bodies.withLock { $0 }
  }
}
#endif
