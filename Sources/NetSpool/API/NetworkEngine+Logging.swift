internal import Synchronization

#if Logging
internal import Logging
#endif

extension NetworkEngine {
  /// Logs a debug line, when there is a logger; the text is not made otherwise.
  func log(_ line: @autoclosure () -> String) {
    #if Logging
    configuration.logger?.debug("\(line())")
    #endif
  }

  /// Logs a debug line for an ending, with what it says as metadata too: `method`, `origin`, `duration` (ms),
  /// `attempt`, of a failure `error`, and where an answer came `status` and `source`. No secret is among it.
  func log(
    endingOf operation: NetworkOperation, _ result: Result<NetworkResponse, NetworkError>,
    _ metrics: NetworkResponse.Metrics, _ line: @autoclosure () -> String
  ) {
    #if Logging
    guard let logger = configuration.logger, logger.logLevel <= .debug else { return }
    logger.debug("\(line())", metadata: Self.metadata(of: operation, result, metrics))
    #endif
  }

  #if Logging
  private static func metadata(
    of operation: NetworkOperation, _ result: Result<NetworkResponse, NetworkError>,
    _ metrics: NetworkResponse.Metrics
  ) -> Logger.Metadata {
    let request = operation.request
    var metadata: Logger.Metadata = [
      "method": "\(request.method.name)", "duration": "\(metrics.endToEndTime / 1_000)",
      "attempt": "\(metrics.attempts)",
    ]
    if let origin = try? URLParser.parse(request.url).pieces.origin.text { metadata["origin"] = "\(origin)" }
    if case .failure(let error) = result { metadata["error"] = "\(error.code)" }
    if let response = result.answer {
      metadata["status"] = "\(response.status)"
      metadata["source"] = "\(response.source.rawValue)"
    }
    return metadata
  }
  #endif

  /// Endings are told to a logger.
  var isLogged: Bool {
    #if Logging
    configuration.logger != nil
    #else
    false
    #endif
  }

  /// The queue says here who has held its loop.
  func joinLog() {
    #if Logging
    guard let logger = configuration.logger else { return }
    driver.logs.withLock { $0[id] = { line in logger.debug("\(line)") } }
    #endif
  }

  func leaveLog() {
    #if Logging
    if configuration.logger != nil { driver.logs.withLock { $0[id] = nil } }
    #endif
  }
}
