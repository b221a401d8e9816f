/// One sink's result, as it stands in the response.
struct SinkReport: Sendable {
  var path: String?
  var bytes: Int64
  /// SHA-256 of the bytes, unless switched off.
  var sha256: [UInt8]?

  init(path: String? = nil, bytes: Int64 = 0, sha256: [UInt8]? = nil) {
    self.path = path
    self.bytes = bytes
    self.sha256 = sha256
  }
}
