/// An engine's credential, and the only origin that it goes to.
struct EngineCredential: Sendable {
  let credential: NetworkCredentials
  /// `scheme://host[:port]`, canonical.
  let origin: String

  init(_ credential: NetworkCredentials, origin: String) {
    self.credential = credential
    self.origin = origin
  }
}

extension NetworkOperation {
  /// The engine's credential, if the request goes where it belongs.
  var engineCredential: NetworkCredentials? {
    guard let own = engine.credential, let parsed = try? URLParser.parse(request.url),
      parsed.pieces.origin.text == own.origin
    else { return nil }
    return own.credential
  }
}

extension NetworkEngine {
  /// The engine's fields as the cache sees them.
  var askedFields: Headers {
    var fields = SentFields.add(credential?.credential, to: headers)
    // What the jar sends is libcurl's affair; its answers are this engine's all the same.
    if handleSettings.keepsCookies, !fields.contains("Cookie") {
      fields.append(name: "Cookie", value: "NetSpool \(id)")
    }
    return fields
  }
}
