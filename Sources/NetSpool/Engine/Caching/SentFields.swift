/// The header fields that a request will be sent with, as far as the cache and `Vary` are concerned.
enum SentFields {
  /// A credential that no field shows yet counts as an `Authorization` of its own: what is stored for it is kept
  /// apart, and the rules for such requests hold (RFC 9111 section 3.5). The value says nothing.
  static func add(_ credential: NetworkCredentials?, to fields: Headers) -> Headers {
    guard let credential, !fields.contains("Authorization") else { return fields }
    var fields = fields
    fields.append(name: "Authorization", value: "NetSpool \(credential.id)")
    return fields
  }

  /// - Parameter decodes: the engine asks for the codings that it can undo.
  static func make(defaults: Headers, own: Headers, decodes: Bool) -> Headers {
    var fields = own
    for field in defaults where !own.contains(field.name) {
      fields.append(name: field.nameBytes, value: field.valueBytes)
    }
    if decodes, !fields.contains("Accept-Encoding") {
      fields.append(name: "Accept-Encoding", value: ContentDecoder.acceptEncoding)
    }
    return fields
  }
}
