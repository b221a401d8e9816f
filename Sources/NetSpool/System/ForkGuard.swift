internal import Glibc
internal import Synchronization

/// Notices that this process is the child of one that used the library.
///
/// In a child of fork(2) the threads are gone, and the locks, reader tables and maps still belong to the parent:
/// whatever we did there we would do to it. So everything begun before the fork is dead in the child.
enum ForkGuard {
  private static let forks = Atomic<Int>(0)
  private static let isArmed: Bool = pthread_atfork(nil, nil, { ForkGuard.noticeFork() }) == 0

  /// How many forks lie between this process and the first one; kept beside what was begun. From the
  /// first call on they are counted.
  static var generation: Int {
    _ = isArmed
    return forks.load(ordering: .relaxed)
  }

  private static func noticeFork() { forks.add(1, ordering: .relaxed) }
}
