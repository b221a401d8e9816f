/// What changes in the life of a frozen request, and what its lane must know of it.
struct FrozenFacts: Sendable, Hashable {
  enum State: UInt8, Sendable, Hashable {
    /// Waits to be sent, perhaps for a moment that is still to come.
    case ready = 0
    /// An attempt was recorded; its bytes may be on their way.
    case inFlight = 1
    /// Nothing more will be sent, unless it is revived.
    case dead = 2
    /// It has its outcome.
    case done = 3
  }

  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt8
    init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Its lane may send others at the same time.
    static let isUnordered = Flags(rawValue: 1)
    /// The caller wants it sent again even when that has its effect twice.
    static let atLeastOnce = Flags(rawValue: 2)
    /// `firstSend` was set by the attempt that is in flight.
    static let isFirstSendOpen = Flags(rawValue: 4)
    /// The origin said how long to wait, so the wait may be as long as `FrozenPolicy.retryAfterMax`.
    static let isWaitStated = Flags(rawValue: 8)
    /// A caller asked for one more attempt, whatever is known of earlier ones.
    static let isRevived = Flags(rawValue: 16)
    static let all: Flags = [.isUnordered, .atLeastOnce, .isFirstSendOpen, .isWaitStated, .isRevived]
  }

  /// A moment of which both clocks are remembered.
  struct Mark: Sendable, Hashable {
    var wall: Microseconds
    /// The record's own age then.
    var age: Microseconds

    init(wall: Microseconds, age: Microseconds) {
      self.wall = wall
      self.age = age
    }
  }

  var state: State = .ready
  var flags: Flags = []
  /// Times that bytes may have left.
  var attempts: UInt32 = 0
  /// Times that the process went away meanwhile.
  var crashAttempts: UInt32 = 0
  /// Times in a row that nothing could be sent.
  var offlineFailures: UInt32 = 0
  /// Which opening of the store the attempt in flight belongs to.
  var epoch: UInt32 = 0
  var createdWall: Microseconds
  /// It expires this long after `createdWall`.
  var lifetime: Microseconds
  /// When bytes may have left for the first time.
  var firstSend: Mark?
  /// Not before this moment of the wall clock; 0: any time.
  var notBeforeWall: Microseconds = 0
  /// The status of the last answer; 0 without one.
  var lastStatus: UInt16 = 0

  /// Time of the monotonic clocks of all processes that had it open, up to `agedAt`.
  var storedAge: Microseconds = 0
  /// On this process's monotonic clock; not stored.
  var agedAt: Microseconds

  init(at now: FrozenMoment, lifetime: Microseconds) {
    createdWall = now.wall
    agedAt = now.monotonic
    self.lifetime = lifetime
  }
}
