#if Logging
internal import Logging
#endif

extension NetworkEngine.Configuration {
  /// The user's closures as the core's.
  var hooks: EngineContext.Hooks {
    var hooks = EngineContext.Hooks()
    if let prepare {
      hooks.prepare = { core in
        var request = NetworkRequest(core: core)
        do { try prepare(&request) } catch let error as NetworkError { throw error.failure }
        core = request.core
      }
    }
    if let validate {
      hooks.validate = { response in
        do {
          try validate(NetworkResponse(response))
          return nil
        } catch let error as NetworkError {
          return error.failure
        } catch {
          var failure = Failure(status: response)
          failure.reason = "validate threw \(error)"
          return failure
        }
      }
    }
    if let onUnhandledFailure { hooks.onUnhandledFailure = { onUnhandledFailure(NetworkError($0)) } }
    #if Logging
    if let logger { hooks.log = { line in logger.debug("\(line())") } }
    #endif
    return hooks
  }
}
