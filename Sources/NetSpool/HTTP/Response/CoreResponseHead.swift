/// Status and header fields: what is known before the first body byte.
struct CoreResponseHead: Sendable {
  enum Version: UInt8, Sendable { case http10, http11, http2, http3 }

  var version: Version
  var status: Int
  var headers: HeaderFields
  var trailers = HeaderFields()

  init(version: Version, status: Int, headers: HeaderFields) {
    self.version = version
    self.status = status
    self.headers = headers
  }
}
