/// A sink that an operation asked for; made when its transfer starts.
package struct StreamAttachment: Sendable {
  package let makeSink: @Sendable (SinkServices) -> any Sink
  /// Its failure fails the operation; otherwise only this stream is dropped.
  package let isEssential: Bool

  package init(isEssential: Bool, makeSink: @escaping @Sendable (SinkServices) -> any Sink) {
    self.isEssential = isEssential
    self.makeSink = makeSink
  }
}

/// What sinks need of the loop.
package struct SinkServices {
  package let worker: Worker
  /// Calls back on the loop, once, when the descriptor can be written to; false when it cannot be polled.
  package let waitUntilWritable: (Int32, @escaping () -> Void) -> Bool
  /// Calls back on the loop after so many milliseconds.
  package let after: (UInt64, @escaping () -> Void) -> Void
}
