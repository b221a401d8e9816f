internal import Glibc
internal import Synchronization

/// A lock for each key: the holder of one keeps no thread from another. Any thread; not to be taken again by its holder.
final class KeyedLock<Key: Hashable & Sendable>: Sendable {
  private final class Turn: Sendable {
    let lock = Mutex(())
  }

  /// The locks that a thread holds or waits for.
  private let entries = Mutex<[Key: (turn: Turn, users: Int)]>([:])

  func withLock<Result: Sendable, Failure: Error>(
    _ key: Key, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let turn = begin(key)
    defer { end(key) }
    return try turn.lock.withLock { _ throws(Failure) in try body() }
  }

  private func begin(_ key: Key) -> Turn {
    entries.withLock { entries in
      var entry = entries[key] ?? (turn: Turn(), users: 0)
      entry.users += 1
      entries[key] = entry
      return entry.turn
    }
  }

  private func end(_ key: Key) {
    entries.withLock { entries in
      entries[key]?.users -= 1
      if entries[key]?.users == 0 { entries[key] = nil }
    }
  }
}

/// A lock that readers share; a writer has it alone and goes before later readers
/// (pthread_rwlock_wrlock(3)). Any thread; not to be taken again by its holder.
@safe struct SharedLock: ~Copyable, @unchecked Sendable {
  // Safe because the memory never moves and the calls are made for many threads.
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>

  init() {
    unsafe lock = .allocate(capacity: 1)
    var attributes = pthread_rwlockattr_t()
    unsafe pthread_rwlockattr_init(&attributes)
    unsafe pthread_rwlockattr_setkind_np(&attributes, CInt(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    unsafe pthread_rwlock_init(lock, &attributes)
    unsafe pthread_rwlockattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_rwlock_destroy(lock)
    unsafe lock.deallocate()
  }

  func reading<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    unsafe pthread_rwlock_rdlock(lock)
    defer { unsafe pthread_rwlock_unlock(lock) }
    return try body()
  }

  func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    unsafe pthread_rwlock_wrlock(lock)
    defer { unsafe pthread_rwlock_unlock(lock) }
    return try body()
  }
}
