/// The users whose answers are kept together: what is stored in one scope is never served in another.
struct CacheScope: Sendable, Hashable {
  /// Names the partition in keys; holds no NUL and no secret.
  let text: String
  /// Entries are found again by a later process.
  let isLasting: Bool

  private init(text: String, isLasting: Bool) {
    self.text = text
    self.isLasting = isLasting
  }

  /// Requests without credentials.
  static let anonymous = CacheScope(text: "a", isLasting: true)

  /// One partition for all users, under the rules of a shared cache.
  static let shared = CacheScope(text: "s", isLasting: true)

  /// A scope that the caller names, such as one end user.
  static func named(_ name: String) -> CacheScope {
    CacheScope(text: "n" + KeyText.escaped(name), isLasting: true)
  }

  /// The same in a part of a store of its own: two namespaces share nothing. `name` has no `/` and no NUL.
  func inNamespace(_ name: String) -> CacheScope {
    CacheScope(text: "\(name)/\(text)", isLasting: isLasting)
  }

  /// Makes a scope from what identifies the sender: every field that is secret or names a person, and what is not a
  /// field. Anonymous if there is none of it. Any other field separates answers only through `Vary`.
  ///
  /// The text is a keyed hash under this process's key: such entries end with the process.
  /// `clientCertificate`: what tells certificates apart, such as path and key. `credentials`: those that
  /// the engine adds later, such as a user name and password for Basic.
  static func derived(
    from headers: Headers, clientCertificate: String? = nil, credentials: String? = nil,
    meaning: FieldMeaning = .standard
  ) -> CacheScope {
    var parts: [[UInt8]] = []
    if meaning.hasSecretNames || RequestFieldScan.mayIdentify(headers) {
      appendIdentity(headers, meaning, to: &parts)
    }
    if let clientCertificate { parts += [Array("\u{0}certificate".utf8), Array(clientCertificate.utf8)] }
    if let credentials { parts += [Array("\u{0}credentials".utf8), Array(credentials.utf8)] }
    guard !parts.isEmpty else { return .anonymous }
    return CacheScope(text: "d" + Hexadecimal.text(ProcessSecret.hash(parts)), isLasting: false)
  }

  private static func appendIdentity(_ headers: Headers, _ meaning: FieldMeaning, to parts: inout [[UInt8]]) {
    for field in headers where meaning.isSecret(field.name) || meaning.namesPerson(field.name) {
      parts.append(field.nameBytes.map(\.asciiLowercased))
      parts.append(Array(field.valueBytes))
    }
  }
}
