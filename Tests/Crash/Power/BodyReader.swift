#if DEBUG
@testable import NetSpool

/// Has attempts recorded, which is how a body is read.
struct BodyReader {
  private let store: FrozenStore

  init(_ store: FrozenStore) { self.store = store }

  /// The bodies that are what was written.
  func read(_ rows: [(number: UInt64, payload: [UInt8])]) -> [UInt64: [UInt8]] {
    let answers = store.commit(rows.map { .attempt($0.number, payload: $0.payload) })
    var bodies: [UInt64: [UInt8]] = [:]
    for (row, answer) in zip(rows, answers) {
      if case .success(let receipt) = answer { bodies[row.number] = receipt.body }
    }
    return bodies
  }
}
#endif
