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
}
