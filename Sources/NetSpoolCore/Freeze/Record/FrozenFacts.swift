/// What changes in the life of a frozen request, and what its lane must know of it.
package struct FrozenFacts: Sendable, Hashable {
  package enum State: UInt8, Sendable, Hashable {
    /// Waits to be sent, perhaps for a moment that is still to come.
    case ready = 0
    /// An attempt was recorded; its bytes may be on their way.
    case inFlight = 1
    /// Nothing more will be sent, unless it is revived.
    case dead = 2
    /// It has its outcome.
    case done = 3
  }

  package struct Flags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Its lane may send others at the same time.
    package static let isUnordered = Flags(rawValue: 1)
    /// The caller wants it sent again even when that has its effect twice.
    package static let atLeastOnce = Flags(rawValue: 2)
    /// `firstSend` was set by the attempt that is in flight.
    package static let isFirstSendOpen = Flags(rawValue: 4)
    /// The origin said how long to wait, so the wait may be as long as `FrozenPolicy.retryAfterMax`.
    package static let isWaitStated = Flags(rawValue: 8)
    /// A caller asked for one more attempt, whatever is known of earlier ones.
    package static let isRevived = Flags(rawValue: 16)
    static let all: Flags = [.isUnordered, .atLeastOnce, .isFirstSendOpen, .isWaitStated, .isRevived]
  }

  /// A moment of which both clocks are remembered.
  package struct Mark: Sendable, Hashable {
    package var wall: Microseconds
    /// The record's own age then.
    package var age: Microseconds

    package init(wall: Microseconds, age: Microseconds) {
      self.wall = wall
      self.age = age
    }
  }

  package var state: State = .ready
  package var flags: Flags = []
  /// Times that bytes may have left.
  package var attempts: UInt32 = 0
  /// Times that the process went away meanwhile.
  package var crashAttempts: UInt32 = 0
  /// Times in a row that nothing could be sent.
  package var offlineFailures: UInt32 = 0
  /// Which opening of the store the attempt in flight belongs to.
  package var epoch: UInt32 = 0
  package var createdWall: Microseconds
  /// It expires this long after `createdWall`.
  package var lifetime: Microseconds
  /// When bytes may have left for the first time.
  package var firstSend: Mark?
  /// Not before this moment of the wall clock; 0: any time.
  package var notBeforeWall: Microseconds = 0
  /// The status of the last answer; 0 without one.
  package var lastStatus: UInt16 = 0

  /// Time of the monotonic clocks of all processes that had it open, up to `agedAt`.
  var storedAge: Microseconds = 0
  /// On this process's monotonic clock; not stored.
  var agedAt: Microseconds

  package init(at now: FrozenMoment, lifetime: Microseconds) {
    createdWall = now.wall
    agedAt = now.monotonic
    self.lifetime = lifetime
  }
}
