/// Making operations. An unusable URL does not trap: the operation ends with `.invalidURL` when enqueued.
extension NetworkEngine {
  /// For a path of this engine's host: `scheme://host[:port]/basePath/path`, with single slashes where the
  /// parts meet. Nil and `/` are the base itself.
  public func operation(path: String?, method: NetworkRequest.Method = .get, parameters: Parameters = [:])
    -> NetworkOperation
  {
    let url: String
    do throws(NetworkError) {
      url = try URLText.make(
        scheme: configuration.scheme.rawValue, host: host, port: configuration.port,
        basePath: configuration.basePath, path: path)
    } catch {
      let operation = make(NetworkRequest(url: path ?? "", method: method), parameters)
      operation.spoil(error)
      return operation
    }
    return make(NetworkRequest(url: url, method: method), parameters)
  }

  /// For an absolute http or https URL, of this host or any other.
  public func operation(url: String, method: NetworkRequest.Method = .get, parameters: Parameters = [:])
    -> NetworkOperation
  {
    make(NetworkRequest(url: url, method: method), parameters)
  }

  /// For a request made elsewhere.
  public func operation(_ request: NetworkRequest) -> NetworkOperation {
    NetworkOperation(request, engine: self)
  }

  private func make(_ request: NetworkRequest, _ parameters: Parameters) -> NetworkOperation {
    var request = request
    if parameters.count > 0 { request.extra.parameters = parameters }
    return NetworkOperation(request, engine: self)
  }
}
