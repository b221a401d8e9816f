/// One sink's result, as it stands in the response.
package struct SinkReport: Sendable {
  package var path: String?
  package var bytes: Int64
  /// SHA-256 of the bytes, unless switched off.
  package var sha256: [UInt8]?

  package init(path: String? = nil, bytes: Int64 = 0, sha256: [UInt8]? = nil) {
    self.path = path
    self.bytes = bytes
    self.sha256 = sha256
  }
}
