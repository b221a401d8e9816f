/// What a queue is doing.
package struct QueueActivity: Sendable, Hashable {
  package var queued: Int
  package var running: Int
  package var frozen: Int
  package var bytesIn: Int64
  package var bytesOut: Int64
}
