internal import Synchronization

/// The resources whose answers vary, as far as this process has seen. One that shares a place with another
/// counts as well, which costs a look. Any thread.
final class VaryMarks: Sendable {
  private static let count: UInt64 = 1 << 16
  private let words = Mutex<[UInt64]>([])

  func note(_ key: StoreKey) {
    let bit = key.digest.first % Self.count
    words.withLock { words in
      if words.isEmpty { words = Array(repeating: 0, count: Int(Self.count / 64)) }
      words[Int(bit / 64)] |= 1 << (bit % 64)
    }
  }

  func mayHave(_ key: StoreKey) -> Bool {
    let bit = key.digest.first % Self.count
    return words.withLock { !$0.isEmpty && $0[Int(bit / 64)] & (1 << (bit % 64)) != 0 }
  }
}
