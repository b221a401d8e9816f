/// What the loop knows of one origin: its place in the queue, its width, its idle transfers.
final class Origin {
  /// `scheme://host[:port]`
  let text: String
  let id: OriginID
  var sizing: OriginSizing
  var idle = IdleTransfers()
  /// The width that the queue was told.
  var limit: Int
  /// Runs while the origin has asked for quiet.
  var hold: TimerTable.Key?
  /// When it had.
  var held = HeldTime()
  /// Among the pauses that are counted, and the operations that were seen to wait for its end.
  var pause: BudgetCounter.Wait?
  var waitingForPause = 0
  var budget = RetryBudget()
  var name: OriginName
  let isSecure: Bool
  /// On this machine, where nobody reads along.
  let isLoopback: Bool
  let hasTrailingDot: Bool
  /// How its challenges are answered, by credential.
  var answers = AuthenticationAnswers()
  /// When a request to it was last started.
  var usedAt: Microseconds

  init(_ pieces: URLPieces.Origin, id: OriginID, sizing: OriginSizing, limit: Int) {
    text = pieces.text
    name = OriginName(pieces)
    isSecure = pieces.scheme == "https"
    isLoopback = pieces.isLoopback
    hasTrailingDot = pieces.host.hasSuffix(".")
    self.id = id
    self.sizing = sizing
    self.limit = limit
    usedAt = MonotonicClock.now
  }
}
