/// A sink that an operation asked for; made when its transfer starts.
struct StreamAttachment: Sendable {
  let makeSink: @Sendable (SinkServices) -> any Sink
  /// Its failure fails the operation; otherwise only this stream is dropped.
  let isEssential: Bool
  /// Closes one that no sink was made for.
  let close: @Sendable (NetworkError) -> Void

  init(
    isEssential: Bool, close: @escaping @Sendable (NetworkError) -> Void,
    makeSink: @escaping @Sendable (SinkServices) -> any Sink
  ) {
    self.isEssential = isEssential
    self.close = close
    self.makeSink = makeSink
  }
}
