import NetSpool

/// What the commands that send one request have in common.
protocol ExchangeOptions {
  /// Where the body goes; nil is standard output.
  var output: String? { get }
  var verbose: Bool { get }
  /// Print the curl command instead of sending.
  var curl: Bool { get }
  var request: RequestOptions { get }

  /// The request itself, without what `request` says.
  func makeRequest() throws(IOFailure) -> NetworkRequest
  /// Nil: without a cache.
  func cacheSettings(_ environment: Environment) throws(CacheFailure) -> CacheSettings?
}

extension GetOptions: ExchangeOptions {
  func makeRequest() -> NetworkRequest { NetworkRequest(url: url, method: HTTPMethod(method)) }

  func cacheSettings(_ environment: Environment) throws(CacheFailure) -> CacheSettings? {
    usesCache ? try CacheSettings(place, environment) : nil
  }
}
