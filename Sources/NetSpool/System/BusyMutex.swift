internal import CNetSpoolShims

/// A lock with its value, for values that several threads meet at all the time. Contended, it does not go through the kernel to
/// be handed over, as `Synchronization.Mutex` does on Linux (lock.c). The order of the threads is open.
///
/// The lock and the value begin a line of memory of their own, so that threads that meet here hold up no neighbour.
@safe
struct BusyMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Safe because the value is touched by the holder of the lock alone, whose steps order memory.
  private let lock: UnsafeMutablePointer<cnetspool_lock>
  private let value: UnsafeMutablePointer<Value>

  private static var lineBytes: Int { 64 }

  init(_ first: consuming sending Value) {
    let offset = max(MemoryLayout<cnetspool_lock>.size, MemoryLayout<Value>.alignment)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: (offset + MemoryLayout<Value>.size + Self.lineBytes - 1) / Self.lineBytes * Self.lineBytes,
      alignment: max(Self.lineBytes, MemoryLayout<Value>.alignment))
    unsafe lock = memory.bindMemory(to: cnetspool_lock.self, capacity: 1)
    unsafe lock.initialize(to: cnetspool_lock())
    unsafe value = (memory + offset).bindMemory(to: Value.self, capacity: 1)
    unsafe value.initialize(to: first)
  }

  deinit {
    unsafe value.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(lock).deallocate()
  }

  @inline(__always)
  borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    unsafe cnetspool_lock_take(lock)
    defer { unsafe cnetspool_lock_give(lock) }
    return try unsafe body(&value.pointee)
  }

  /// Nil when another thread has it.
  borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard unsafe cnetspool_lock_try(lock) != 0 else { return nil }
    defer { unsafe cnetspool_lock_give(lock) }
    return try unsafe body(&value.pointee)
  }
}
