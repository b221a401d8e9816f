import AsyncHTTPClient
import BenchKit
import NIOCore
import NIOSSL

/// The client as one would set it up for this load: as many connections as requests on the wire.
func makeConfiguration(_ options: Options) -> HTTPClient.Configuration {
  var configuration = HTTPClient.Configuration()
  configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.concurrency
  configuration.httpVersion = options.h2 ? .automatic : .http1Only
  guard !options.ca.isEmpty else { return configuration }
  var tls = TLSConfiguration.makeClientConfiguration()
  tls.trustRoots = .file(options.ca)
  configuration.tlsConfiguration = tls
  return configuration
}

/// A request whose URL has already been accepted once must not fail; a wrong flag ends the program.
func makeRequest(_ url: String) -> HTTPClient.Request {
  do {
    return try HTTPClient.Request(url: url)
  } catch {
    usageError("\(url): \(error)")
  }
}
