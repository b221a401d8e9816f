public import Foundation
public import NetSpool

extension NetworkRequest {
  /// A request for an http or https URL, its base included. Any other fails with `.invalidURL` when enqueued.
  public init(
    url: URL, method: NetworkRequest.Method = .get, headers: NetworkRequest.Headers = [:], body: Body = .none
  ) {
    self.init(url: url.absoluteString, method: method, headers: headers, body: body)
  }
}

extension NetworkEngine {
  /// For an http or https URL, its base included, of this host or any other. Any other ends with `.invalidURL`
  /// when enqueued.
  public func operation(url: URL, method: NetworkRequest.Method = .get, parameters: Parameters = [:])
    -> NetworkOperation
  {
    operation(url: url.absoluteString, method: method, parameters: parameters)
  }
}

extension FileDownloadStream {
  /// A body into the file that a URL names.
  ///
  /// - Parameters:
  ///   - url: a `file:` URL; its directory must exist.
  ///   - append: behind an existing file instead of replacing it; false by default.
  ///   - digests: whether the report gets the SHA-256 of the bytes; true by default; 0.7 s of CPU per GiB.
  /// - Throws: `.invalidConfiguration` when the URL does not name a file.
  public convenience init(url: URL, append: Bool = false, digests: Bool = true) throws(NetworkError) {
    guard url.isFileURL else {
      throw NetworkError(code: .invalidConfiguration, reason: "FileDownloadStream: not a file URL")
    }
    self.init(path: url.path, append: append, digests: digests)
  }
}
