/// The changes that are not yet committed, by key: lookups must see them first.
struct PendingTable {
  enum Content: Sendable {
    case put(PendingPut)
    /// New metadata for the stored body of this id.
    case metadata([UInt8], bodyID: UInt64)
    case removed
  }

  struct Change: Sendable {
    let sequence: UInt64
    let key: StoreKey
    var content: Content

    /// What it counts for while it waits.
    var bytes: Int {
      let fixed = 128 + key.fullKey.count
      return switch content {
      case .put(let put): fixed + put.metadata.count + put.body.count
      case .metadata(let metadata, _): fixed + metadata.count
      case .removed: fixed
      }
    }
  }

  private var changes: [KeyDigest: Change] = [:]
  private var lastSequence: UInt64 = 0
  private(set) var bytes = 0

  var isEmpty: Bool { changes.isEmpty }

  subscript(key: StoreKey) -> Change? { changes.isEmpty ? nil : changes[key.digest] }

  /// The change, unless a later one of the same key took its place.
  func change(_ key: KeyDigest, sequence: UInt64) -> Change? {
    guard let change = changes[key], change.sequence == sequence else { return nil }
    return change
  }

  /// Answers the number by which the change is found again.
  mutating func add(_ key: StoreKey, _ content: Content) -> UInt64 {
    lastSequence += 1
    let change = Change(sequence: lastSequence, key: key, content: content)
    bytes += change.bytes
    if let before = changes.updateValue(change, forKey: key.digest) { bytes -= before.bytes }
    return lastSequence
  }

  /// Forgets a change that is committed.
  mutating func didCommit(_ key: KeyDigest, sequence: UInt64) {
    guard let place = changes.index(forKey: key), changes.values[place].sequence == sequence else { return }
    bytes -= changes.remove(at: place).value.bytes
  }

  /// Turns a put that could not be written into a removal: what stands under the key must not be found either.
  mutating func turnIntoRemoval(_ key: KeyDigest, sequence: UInt64) {
    guard let change = change(key, sequence: sequence) else { return }
    let removal = Change(sequence: sequence, key: change.key, content: .removed)
    bytes += removal.bytes - change.bytes
    changes[key] = removal
  }
}

struct PendingPut: Sendable {
  let namespace: String
  var metadata: [UInt8]
  let body: [UInt8]
  let bodyID: UInt64
}
