/// The certificate that the client shows, and its private key: files that libcurl's TLS library reads when a
/// connection is made.
struct ClientCertificate: Sendable, Hashable {
  /// PEM, or PKCS#12 with the key inside.
  var path: String
  /// PEM; nil when the key is in the same file.
  var key: String?
  var password: Secret?

  init(path: String, key: String? = nil, password: String? = nil) {
    self.path = path
    self.key = key
    self.password = password.map { Secret($0) }
  }
}

/// A text that must not be seen: printing, dumping and reflecting it show a mask.
struct Secret: Sendable, Hashable {
  let revealed: String

  init(_ text: String) { revealed = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { Redaction.mask }
  var debugDescription: String { Redaction.mask }
  /// `dump` goes by this; without it the stored text would be shown.
  var customMirror: Mirror { Mirror(reflecting: Redaction.mask) }
}
