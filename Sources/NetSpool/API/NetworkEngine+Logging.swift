internal import Synchronization

#if Logging
internal import Logging
#endif

extension NetworkEngine {
  /// One debug line, when there is a logger; the text is not made otherwise.
  func log(_ line: @autoclosure () -> String) {
    #if Logging
    configuration.logger?.debug("\(line())")
    #endif
  }

  /// One debug line for an ending, with what it says as metadata too: `method`, `origin`, `status` or `error`, `source`,
  /// `duration` (ms) and `attempt`. No secret is among it.
  func log(
    endingOf operation: NetworkOperation, _ result: Result<NetworkResponse, NetworkError>,
    _ line: @autoclosure () -> String
  ) {
    #if Logging
    guard let logger = configuration.logger, logger.logLevel <= .debug else { return }
    logger.debug("\(line())", metadata: Self.metadata(of: operation, result))
    #endif
  }

  #if Logging
  private static func metadata(
    of operation: NetworkOperation, _ result: Result<NetworkResponse, NetworkError>
  ) -> Logger.Metadata {
    let request = operation.request
    var metadata: Logger.Metadata = ["method": "\(request.method.name)"]
    if let origin = try? URLParser.parse(request.url).pieces.origin.text { metadata["origin"] = "\(origin)" }
    switch result {
    case .success(let response):
      metadata["status"] = "\(response.status)"
      metadata["source"] = "\(response.source.rawValue)"
      metadata["duration"] = "\(response.metrics.endToEndTime / 1_000)"
      metadata["attempt"] = "\(response.metrics.attempts)"
    case .failure(let error):
      if let status = error.response?.status { metadata["status"] = "\(status)" }
      metadata["error"] = "\(error.code)"
      metadata["attempt"] = "\(error.attempts)"
    }
    return metadata
  }
  #endif

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
