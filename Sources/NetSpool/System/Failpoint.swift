internal import Glibc
internal import Synchronization

/// Places at which a test may have the process killed, as a power switch would: `NETSPOOL_FAILPOINT=<place>:<n>`
/// raises SIGKILL at the n-th pass. Debug builds only; a release build has none of it.
enum Failpoint: String, Sendable, CaseIterable {
  case beforeAcceptCommit, afterAcceptCommit
  /// The caller is about to hear that it was accepted.
  case beforeFrozenCallback
  /// The attempt is recorded and nothing was sent.
  case beforeAttemptCommit, afterAttemptCommit
  /// The request's head has left, or its body; its answer's head came, or all of it.
  case afterFirstByte, afterLastByte, afterResponseHead, afterResponseBody
  case beforeOutcomeCommit, afterOutcomeCommit
  /// The caller's handler has returned, and that is not recorded yet.
  case insideHandler
  case beforeAckCommit, afterAckCommit
  case duringRecovery, duringCompaction

  #if DEBUG
  private static let armed: (place: String, pass: Int)? = {
    guard let text = unsafe getenv("NETSPOOL_FAILPOINT") else { return nil }
    let parts = unsafe String(cString: text).split(separator: ":")
    guard parts.count == 2, let pass = Int(parts[1]) else { return nil }
    return (String(parts[0]), pass)
  }()
  private static let passes = Atomic(0)
  #endif

  @inline(__always)
  static func pass(_ place: Failpoint) {
    #if DEBUG
    guard let armed, armed.place == place.rawValue else { return }
    if passes.add(1, ordering: .relaxed).newValue == armed.pass { kill(getpid(), SIGKILL) }
    #endif
  }
}
