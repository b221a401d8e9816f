/// The time limits of one operation, in seconds. Time in the queue never counts.
struct Timeouts: Sendable, Hashable {
  /// Name, connection and TLS handshake together. 10 s.
  var connect = 10.0
  /// From the request sent to the blank line that ends the head. 30 s.
  var head = 30.0
  /// A body slower than `stallBytesPerSecond` for this long has stalled; nil switches it off. 30 s.
  var stall: Double? = 30.0
  /// 100 bytes a second.
  var stallBytesPerSecond = 100
  /// The whole transfer; nil is no limit. 60 s, and none when the body goes to streams.
  var total: Double? = 60.0
  /// Waiting for a slot; nil is no limit, the default.
  var queueDeadline: Double?

  init() {}

  static let standard = Timeouts()

  var firstInvalid: String? {
    func bad(_ value: Double?) -> Bool { value.map { !($0 > 0) || !$0.isFinite } ?? false }
    if bad(connect) { return "connect" }
    if bad(head) { return "head" }
    if bad(stall) || stallBytesPerSecond <= 0 { return "stall" }
    if bad(total) { return "total" }
    if bad(queueDeadline) { return "queueDeadline" }
    return nil
  }
}
