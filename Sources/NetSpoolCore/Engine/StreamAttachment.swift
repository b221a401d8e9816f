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
