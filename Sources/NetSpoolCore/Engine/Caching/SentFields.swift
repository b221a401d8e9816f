/// The header fields that a request will be sent with, as far as the cache and `Vary` are concerned.
enum SentFields {
  /// - Parameter decodes: the engine asks for the codings that it can undo.
  static func make(defaults: HeaderFields, own: HeaderFields, decodes: Bool) -> HeaderFields {
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
