/// What a queue is doing.
struct QueueActivity: Sendable, Hashable {
  var queued: Int
  var running: Int
  var frozen: Int
  var bytesIn: Int64
  var bytesOut: Int64
}
