/// What the loop knows of one origin: its place in the queue, its width, its idle transfers.
final class Origin {
  let pieces: URLPieces.Origin
  /// `scheme://host[:port]`
  let text: String
  let id: OriginID
  // Safe because the scheduler alone has origins, whose entries assert the loop thread, and these values call nobody back.
  @safe @exclusivity(unchecked) var sizing: OriginSizing
  @safe @exclusivity(unchecked) var idle = IdleTransfers()
  /// Of what the last answer that went to streams came by; nil: there was none yet.
  var speaksHTTP2: Bool?
  /// The number of the connections that requests share now.
  private(set) var connections = 0
  /// The width that the queue was told.
  var limit: Int
  /// Runs while the origin has asked for quiet.
  var hold: TimerTable.Key?
  /// When it had.
  var held = HeldTime()
  /// While it is held: before this no operation's total is over.
  var nextTotal: Microseconds = 0
  /// Among the pauses that are counted, and the operations that were seen to wait for its end.
  var pause: BudgetCounter.Wait?
  var waitingForPause = 0
  @safe @exclusivity(unchecked) var budget = RetryBudget()
  let name: OriginName
  let isSecure: Bool
  /// On this machine, where no third party reads along.
  let isLoopback: Bool
  var hasTrailingDot: Bool { pieces.host.hasSuffix(".") }
  /// Of a secure one.
  @safe @exclusivity(unchecked) var proof = RefusedProof()
  /// How its challenges are answered, by credential.
  var answers = AuthenticationAnswers()
  /// When a request to it was last started.
  var usedAt: Microseconds
  /// Operations of this loop that have not ended and are to go there.
  var users = 0
  /// How it is written in the URLs that led here.
  var spellings: [String] = []

  init(_ pieces: URLPieces.Origin, id: OriginID, sizing: OriginSizing, limit: Int) {
    self.pieces = pieces
    text = pieces.text
    name = OriginName(pieces)
    isSecure = pieces.scheme == "https"
    isLoopback = pieces.isLoopback
    self.id = id
    self.sizing = sizing
    self.limit = limit
    usedAt = MonotonicClock.now
  }

  /// Leaves the connections with this number to the transfers that are on them. Numbers come again, so that there are few of
  /// them: until then a connection that is dead has been closed by the last that was on it.
  func leave(_ choice: ConnectionChoice) {
    if choice == .shared(connections) { connections = (connections + 1) % Self.connectionsNumbers }
  }

  private static let connectionsNumbers = 4
}
