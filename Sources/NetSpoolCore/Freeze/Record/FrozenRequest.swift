/// What is to be sent, byte for byte the same at every attempt. The body is kept apart.
package struct FrozenRequest: Sendable, Hashable {
  package var method: Method
  package var url: String
  /// Without the fields in `secretFields`.
  package var headers = HeaderFields()
  /// Names of fields whose values are never written to a disk: asked for again before each attempt.
  package var secretFields: [String] = []
  package var key: IdempotencyKey
  /// The name of the field that carries the key; empty: no key is sent.
  package var keyField = IdempotencyKey.fieldName
  /// Requests of one lane are sent in order.
  package var lane: String
  /// Whose outcome handler is meant after a restart.
  package var tag: String?
  /// The caller's own, `FrozenLimits.userInfoBytesMax` at most.
  package var userInfo: [UInt8] = []
  /// The engine it belongs to.
  package var scope = ""
  /// A second request with the same one is the first one.
  package var dedupeKey: String?
  package var bodyBytes = 0

  package init(method: Method, url: String, key: IdempotencyKey, lane: String) {
    self.method = method
    self.url = url
    self.key = key
    self.lane = lane
  }

  /// Takes fields over, the values of secret ones left out.
  package mutating func setHeaders(_ fields: HeaderFields, isSecret: (String) -> Bool) {
    let secret = Set(fields.map(\.name).filter(isSecret))
    headers = fields
    for name in secret { headers.remove(name: name) }
    secretFields = secret.sorted()
  }

  package var sendsKey: Bool { !keyField.isEmpty }
}
