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
  /// Who it comes from; nil: nobody.
  func credentials(_ environment: Environment) throws -> NetworkCredentials?
  /// Credentials go over plain HTTP to other machines as well.
  var sendsInClear: Bool { get }
  /// Nil: without a cache.
  func cacheSettings(_ environment: Environment) throws(CacheFailure) -> CacheSettings?
}

extension ExchangeOptions {
  func credentials(_ environment: Environment) throws -> NetworkCredentials? { nil }
  var sendsInClear: Bool { false }
}

extension GetOptions: ExchangeOptions {
  func credentials(_ environment: Environment) throws -> NetworkCredentials? {
    try account.credentials(environment)
  }

  var sendsInClear: Bool { account.inClear }

  func makeRequest() -> NetworkRequest { NetworkRequest(url: url, method: NetworkRequest.Method(method)) }

  func cacheSettings(_ environment: Environment) throws(CacheFailure) -> CacheSettings? {
    usesCache ? try CacheSettings(place, environment) : nil
  }
}
