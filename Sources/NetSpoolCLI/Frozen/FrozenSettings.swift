import NetSpool

/// The frozen store of one command, and what its engine may do with it.
struct FrozenSettings: Sendable {
  let directory: String
  /// How long another process that has the store is waited for, in seconds. Most have it for a moment only.
  var patience = 2.0
  /// Of one attempt.
  var timeoutSeconds = Double(RequestOptions.timeoutSeconds)
  /// Which requests may be sent; none unless told otherwise.
  var maySend: @Sendable (FrozenOperation) -> Bool = { _ in false }
  /// Values for fields that are not in the store.
  var secrets: (@Sendable (FrozenOperation) -> NetworkRequest.Headers)?

  init(_ place: FrozenPlace, _ environment: Environment) throws(FrozenFailure) {
    guard let path = place.path(environment) else { throw .nowhere }
    directory = path
  }

  var freezing: FreezeConfiguration {
    var freezing = FreezeConfiguration()
    freezing.directory = directory
    freezing.maySend = maySend
    freezing.secrets = secrets
    return freezing
  }
}
