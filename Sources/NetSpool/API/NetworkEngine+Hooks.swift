#if Logging
internal import Logging
#endif

extension NetworkEngine.Configuration {
  /// The user's closures that act on every operation.
  var hooks: EngineContext.Hooks {
    var hooks = EngineContext.Hooks()
    hooks.prepare = prepare
    if let validate {
      hooks.validate = { response in
        do {
          try validate(response)
          return nil
        } catch let error as NetworkError {
          return error
        } catch {
          var failure = NetworkError(status: response)
          failure.reason = "validate threw \(error)"
          return failure
        }
      }
    }
    hooks.onUnhandledFailure = onUnhandledFailure
    #if Logging
    if let logger { hooks.log = { line in logger.debug("\(line())") } }
    #endif
    return hooks
  }
}
