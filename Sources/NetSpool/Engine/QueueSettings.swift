/// How wide a queue runs; may change at any time.
struct QueueSettings: Sendable {
  var sizing = QueueSizing.adaptive
  /// Transfers at once, all origins together: 256.
  var maximumConcurrent = 256
  /// Transfers at once to one origin: 64.
  var maximumPerOrigin = 64
  var isSuspended = false

  init() {}
}
