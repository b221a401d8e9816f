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
