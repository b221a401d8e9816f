/// Status and header fields: what is known before the first body byte.
package struct ResponseHead: Sendable {
  package enum Version: UInt8, Sendable { case http10, http11, http2, http3 }

  package var version: Version
  package var status: Int
  package var headers: HeaderFields
  package var trailers = HeaderFields()

  package init(version: Version, status: Int, headers: HeaderFields) {
    self.version = version
    self.status = status
    self.headers = headers
  }
}
