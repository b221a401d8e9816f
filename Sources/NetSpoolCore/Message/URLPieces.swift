/// The canonical parts of an absolute URL, as libcurl's parser gave them.
package struct URLPieces: Sendable, Hashable {
  package var scheme: String
  package var host: String
  package var port: UInt16
  package var pathAndQuery: String
  /// Userinfo becomes a credential and is never part of the text.
  package var user: String?
  package var password: String?

  package init(scheme: String, host: String, port: UInt16, pathAndQuery: String) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.pathAndQuery = pathAndQuery
  }
}
