/// What is to be sent, byte for byte the same at every attempt. The body is kept apart.
struct FrozenRequest: Sendable, Hashable {
  var method: Method
  var url: String
  /// Without the fields in `secretFields`.
  var headers = Headers()
  /// Names of fields whose values are never written to a disk: asked for again before each attempt.
  var secretFields: [String] = []
  var key: IdempotencyKey
  /// The name of the field that carries the key; empty: no key is sent.
  var keyField = IdempotencyKey.fieldName
  /// Requests of one lane are sent in order.
  var lane: String
  /// Whose outcome handler is meant after a restart.
  var tag: String?
  /// The caller's own, `FrozenLimits.userInfoBytesMax` at most.
  var userInfo: [UInt8] = []
  /// The engine it belongs to.
  var scope = ""
  /// A second request with the same one is the first one.
  var dedupeKey: String?
  var bodyBytes = 0

  init(method: Method, url: String, key: IdempotencyKey, lane: String) {
    self.method = method
    self.url = url
    self.key = key
    self.lane = lane
  }

  /// Takes fields over, the values of secret ones left out.
  mutating func setHeaders(_ fields: Headers, isSecret: (String) -> Bool) {
    let secret = Set(fields.map(\.name).filter(isSecret))
    headers = fields
    for name in secret { headers.remove(name: name) }
    secretFields = secret.sorted()
  }

  var sendsKey: Bool { !keyField.isEmpty }
}
