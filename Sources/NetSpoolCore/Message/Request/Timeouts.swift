/// The time limits of one operation, in seconds. Time in the queue never counts.
package struct Timeouts: Sendable, Hashable {
  /// Name, connection and TLS handshake together. 10 s.
  package var connect = 10.0
  /// From the request sent to the blank line that ends the head. 30 s.
  package var head = 30.0
  /// A body slower than `stallBytesPerSecond` for this long has stalled; nil switches it off. 30 s.
  package var stall: Double? = 30.0
  /// 100 bytes a second.
  package var stallBytesPerSecond = 100
  /// The whole transfer; nil is no limit. 60 s, and none when the body goes to streams.
  package var total: Double? = 60.0
  /// Waiting for a slot; nil is no limit, the default.
  package var queueDeadline: Double?

  package init() {}

  package static let standard = Timeouts()

  package var firstInvalid: String? {
    func bad(_ value: Double?) -> Bool { value.map { !($0 > 0) || !$0.isFinite } ?? false }
    if bad(connect) { return "connect" }
    if bad(head) { return "head" }
    if bad(stall) || stallBytesPerSecond <= 0 { return "stall" }
    if bad(total) { return "total" }
    if bad(queueDeadline) { return "queueDeadline" }
    return nil
  }
}
