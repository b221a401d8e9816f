/// What happens to a frozen request.
enum FrozenEvent: Sendable, Hashable {
  /// The request's turn has come: an attempt is recorded. `epoch`: of this opening of the store.
  case launched(epoch: UInt32)
  /// An answer came, whole. `retryAfter` in seconds. `mayAskAgain`: there is somebody to ask for other
  /// credentials, and this attempt did not have his answer yet.
  case answered(status: Int, retryAfter: Double? = nil, mayAskAgain: Bool = false)
  /// No answer came, or not all of it.
  case failed(NetworkError.Code, NetworkError.SendState)
  /// The process that sent it went away.
  case abandoned
  /// What is known of it may be older than an attempt: it comes out of a damaged file.
  case doubted
  /// The engine shuts down and has ended the attempt.
  case parked(NetworkError.SendState)
  case expired
  case cancelled
  /// The request's body is not what was written.
  case damaged
  /// A caller wants a dead one sent after all.
  case revived

  /// The event's name for a sentence.
  var name: String {
    switch self {
    case .launched: "launched"
    case .answered: "answered"
    case .failed: "failed"
    case .abandoned: "abandoned"
    case .doubted: "doubted"
    case .parked: "parked"
    case .expired: "expired"
    case .cancelled: "cancelled"
    case .damaged: "damaged"
    case .revived: "revived"
    }
  }
}

/// The change to be recorded, and then carried out.
enum FrozenAction: Sendable, Hashable {
  /// Send it, once the attempt is recorded.
  case send
  /// Back to its lane, not before the time is over.
  case wait(Microseconds, Cause)
  /// The answer is its outcome.
  case deliver
  case bury(FrozenDeath)

  enum Cause: Sendable, Hashable {
    /// Nothing could be sent: a change of the network ends the wait.
    case network
    /// The origin was reached, or may have been.
    case origin
    /// Nothing is known about the origin: a restart, a revival, other credentials.
    case ours
  }
}
