internal import Synchronization

/// The changes that are not yet committed, by key: lookups must see them first.
struct PendingTable {
  enum Content: Sendable {
    case put(PendingPut)
    /// New metadata for the stored body of this id.
    case metadata([UInt8], bodyID: UInt64)
    case removed
    /// Everything of the resource that the key begins with goes, and what was asked for before this moment is not stored.
    case fence(Microseconds)

    /// Something is to be stored under the key, and not removed.
    fileprivate var stores: Bool {
      switch self {
      case .put, .metadata: true
      case .removed, .fence: false
      }
    }
  }

  /// An object, so that handing it on costs a reference, whatever it holds.
  final class Change: Sendable {
    let sequence: UInt64
    let key: StoreKey
    let content: Content
    /// The newest commit of the store with which nothing had made worthless what is put here.
    let validAt = Atomic<UInt64>(0)

    /// What it takes to write; the part of it that goes into a file (`BodyFiles`); and what it counts for while it waits: a
    /// body that lies on the disk counts there (`CacheStoreCore.spools`).
    let bytes, fileBytes, bytesInMemory: Int

    init(sequence: UInt64, key: StoreKey, content: Content) {
      (self.sequence, self.key, self.content) = (sequence, key, content)
      let fixed = 128 + key.fullKey.count
      switch content {
      case .put(let put):
        let (count, inMemory) = (put.body.count, put.body.bytesInMemory)
        bytes = fixed + put.metadata.count + count
        fileBytes = count >= BodyFiles.bytesMin ? count : 0
        bytesInMemory = bytes - count + inMemory
      case .metadata(let metadata, _):
        (bytes, fileBytes, bytesInMemory) = (fixed + metadata.count, 0, fixed + metadata.count)
      case .removed, .fence: (bytes, fileBytes, bytesInMemory) = (fixed, 0, fixed)
      }
    }

    /// Nothing is found under its key, whatever that is.
    var isRemoval: Bool { !content.stores && key.fullKey.isEmpty }
  }

  private var changes: [KeyDigest: Change] = [:]
  /// Since when each waits; its numbers are the changes'.
  private(set) var waits = WaitingTimes()
  /// The longest that one has waited.
  private(set) var longestWait: Microseconds = 0
  /// In memory.
  private(set) var bytes = 0

  var isEmpty: Bool { changes.isEmpty }

  /// What waits to be stored of a resource. Costs the length of the table.
  func keys(of resource: UInt64) -> [StoreKey] {
    changes.values.filter { $0.key.digest.first == resource && $0.content.stores }.map(\.key)
  }

  /// The keys of what waits to be stored and matches. Costs the length of the table.
  func puts(where matches: (StoreKey, PendingPut) -> Bool) -> [StoreKey] {
    changes.values.compactMap { change in
      if case .put(let put) = change.content, matches(change.key, put) { change.key } else { nil }
    }
  }

  /// All that is stored of a resource is about to be removed.
  func isFenced(_ resource: UInt64) -> Bool {
    if changes.isEmpty { return false }
    if case .fence? = changes[.first(of: resource)]?.content { return true }
    return false
  }

  subscript(key: StoreKey) -> Change? { changes.isEmpty ? nil : changes[key.digest] }

  /// The change, unless a later one of the same key took its place.
  func change(_ key: KeyDigest, sequence: UInt64) -> Change? {
    changes[key].flatMap { $0.sequence == sequence ? $0 : nil }
  }

  /// Answers the number by which the change is found again.
  mutating func add(_ key: StoreKey, _ content: Content) -> UInt64 {
    let change = Change(sequence: UInt64(waits.begin(MonotonicClock.now)), key: key, content: content)
    bytes += change.bytesInMemory
    if let before = changes.updateValue(change, forKey: key.digest) {
      bytes -= before.bytesInMemory
      _ = waits.end(Int(before.sequence))
    }
    return change.sequence
  }

  /// Forgets a change that is committed.
  mutating func didCommit(_ key: KeyDigest, sequence: UInt64) {
    guard let place = changes.index(forKey: key), changes.values[place].sequence == sequence else { return }
    bytes -= changes.remove(at: place).value.bytesInMemory
    if let since = waits.end(Int(sequence)) { longestWait = max(longestWait, MonotonicClock.now - since) }
  }

  /// Turns a put that could not be written into a removal: what stands under the key must not be found either.
  mutating func turnIntoRemoval(_ key: KeyDigest, sequence: UInt64) {
    guard let change = change(key, sequence: sequence) else { return }
    if case .fence = change.content { return }
    let removal = Change(sequence: sequence, key: change.key, content: .removed)
    bytes += removal.bytesInMemory - change.bytesInMemory
    changes[key] = removal
  }
}

struct PendingPut: Sendable {
  let namespace: String
  var metadata: [UInt8]
  let body: PendingBody
  let bodyID: UInt64
  /// When the origin was asked for it; `max`: it was not.
  var askedAt = Microseconds.max
}
