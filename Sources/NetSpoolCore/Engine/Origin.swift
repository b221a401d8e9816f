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
  var budget = RetryBudget()

  init(text: String, id: OriginID, sizing: OriginSizing, limit: Int) {
    self.text = text
    self.id = id
    self.sizing = sizing
    self.limit = limit
  }
}
