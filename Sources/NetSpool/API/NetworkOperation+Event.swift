extension NetworkOperation {
  /// What happens to an operation, for `NetworkEngine.events(for:)`.
  public enum Event: Sendable {
    /// It is somewhere else in its life.
    case state(NetworkOperation.State)
    /// Bytes sent.
    case uploadProgress(TransferProgress)
    /// Bytes received.
    case downloadProgress(TransferProgress)
    /// The end; the last event.
    case finished(Result<NetworkResponse, NetworkError>)
  }
}
