/// Making operations. An unusable URL does not trap: the operation ends with `.invalidURL` when enqueued.
extension NetworkEngine {
  /// For a path of this engine's host: `scheme://host[:port]/basePath/path`, with single slashes where the
  /// parts meet. Nil and `/` are the base itself.
  public func operation(path: String?, method: HTTPMethod = .get, parameters: Parameters = [:])
    -> NetworkOperation
  {
    let url: String
    do throws(Failure) {
      url = try URLText.make(
        scheme: configuration.scheme.rawValue, host: host, port: configuration.port,
        basePath: configuration.basePath, path: path)
    } catch {
      let operation = make(Request(url: path ?? "", method: method.core), parameters)
      operation.core.spoil(error)
      return operation
    }
    return make(Request(url: url, method: method.core), parameters)
  }

  /// For an absolute http or https URL, of this host or any other.
  public func operation(url: String, method: HTTPMethod = .get, parameters: Parameters = [:])
    -> NetworkOperation
  {
    make(Request(url: url, method: method.core), parameters)
  }

  /// For a request made elsewhere.
  public func operation(_ request: NetworkRequest) -> NetworkOperation {
    NetworkOperation(Operation(request.core, context: context))
  }

  private func make(_ request: Request, _ parameters: Parameters) -> NetworkOperation {
    var request = request
    if parameters.count > 0 { request.extra.parameters = parameters.core }
    return NetworkOperation(Operation(request, context: context))
  }
}
