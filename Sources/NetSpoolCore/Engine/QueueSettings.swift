/// How wide a queue runs; may change at any time.
package struct QueueSettings: Sendable {
  package var sizing = QueueSizing.adaptive
  /// Transfers at once, all origins together: 256.
  package var maximumConcurrent = 256
  /// Transfers at once to one origin: 64.
  package var maximumPerOrigin = 64
  package var isSuspended = false

  package init() {}
}
