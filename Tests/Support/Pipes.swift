import Glibc
import Synchronization

private let pipes = Mutex(())

/// Starts a child, while no pipe is being made: one that is not yet closed in children would be held open by it.
func starting(_ start: () -> Int32) -> Int32 { pipes.withLock { _ in start() } }

/// Makes a pipe. Both ends are closed in children that do not ask for them.
func makePipe() throws -> (read: Int32, write: Int32) {
  try pipes.withLock { _ in
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw PartFailure("pipe: errno \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
