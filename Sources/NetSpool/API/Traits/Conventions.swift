#if Metrics || Tracing
/// OpenTelemetry's semantic conventions for HTTP clients, as spans and metrics have them.
extension NetworkRequest.Method {
  /// Nil for a method that the conventions do not know: what a user may choose must not become ever new series.
  var known: String? {
    ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"].contains(name)
      ? name : nil
  }
}

extension NetworkError {
  /// `error.type`: the status, or the code.
  var type: String { code == .status ? "\(response?.status ?? 0)" : code.description }
}
#endif
