/// The meaning that a field's name gives its value: a secret, a person's name, or neither. One rule for logs, for what
/// is written to a disk, and for whose answers the cache keeps apart.
///
/// A name is read word by word, in any case and spelling: split at whatever is no letter or digit and where the case
/// changes, digits at a word's end left out, and with the words that are commonly run together. It errs towards a
/// secret: `X-Sort-Key` is one.
struct FieldMeaning: Sendable {
  /// Names in lower case that the caller calls secret, and those of which it says that they are not.
  private let secretNames: Set<String>
  private let openNames: Set<String>

  static let standard = FieldMeaning()

  /// The caller calls some names secret, which may be any.
  var hasSecretNames: Bool { !secretNames.isEmpty }

  /// `secret`, `open`: whole names, in any case; `open` wins over the words, `secret` over `open`.
  init(secret: some Sequence<String> = [], open: some Sequence<String> = []) {
    secretNames = Set(secret.map { $0.lowercased() })
    openNames = Set(open.map { $0.lowercased() })
  }

  /// True when the value must not be seen: `Authorization`, `X-CSRFToken`, `Secret-Key`, `DPoP`.
  func isSecret(_ name: String) -> Bool {
    let lowercased = name.lowercased()
    if secretNames.contains(lowercased) { return true }
    if openNames.contains(lowercased) || Self.isKnownOpen(lowercased) { return false }
    return Self.hasWord(name, Self.isSecret(word:))
  }

  /// True when a word, in lower case, makes a name secret in which it stands.
  static func isSecret(word: String) -> Bool {
    secretWords.contains(word) || secretEnds.contains { word.hasSuffix($0) }
  }

  /// True when the last word of a name, or the last piece between marks, makes it secret.
  static func isSecret(lastWordOf name: [UInt8]) -> Bool {
    guard let piece = name.split(whereSeparator: { !$0.isASCIILetter && !$0.isASCIIDigit }).last else {
      return false
    }
    let start = piece.indices.dropFirst().last { beginsWord(piece, $0) } ?? piece.startIndex
    return isSecret(word: word(piece)) || isSecret(word: word(piece[start...]))
  }

  /// True when the value says whose request it is: `X-User-Id`, `X-Tenant`, `On-Behalf-Of`. Not secret, but
  /// answers are kept apart by it.
  func namesPerson(_ name: String) -> Bool {
    let lowercased = name.lowercased()
    if openNames.contains(lowercased) || lowercased.hasSuffix("user-agent") { return false }
    if lowercased == "from" || Self.personEnds.contains(where: lowercased.hasSuffix) { return true }
    return Self.hasWord(name) { word in
      Self.personWords.contains(word) || word.hasPrefix("impersonat")
    }
  }

  private static func isKnownOpen(_ name: String) -> Bool {
    knownOpen.contains(name) || name.hasPrefix("sec-websocket-")
  }

  private static let knownOpen: Set<String> = [
    "idempotency-key", "x-idempotency-key", "cache-key", "surrogate-key", "keep-alive",
    "access-control-allow-credentials",
  ]
  private static let secretWords: Set<String> = [
    "auth", "authn", "authz", "oauth", "authorization", "authentication", "bearer", "token", "jwt", "saml",
    "assertion", "password", "passwd", "passphrase", "passcode", "pass", "pwd", "pin", "otp", "totp",
    "secret", "session", "sessionid", "sid", "cookie", "key", "apikey", "credential", "credentials", "csrf",
    "xsrf", "signature", "sig", "hmac", "ticket", "dpop", "nonce",
  ]
  /// Of words that are run together: `accesstoken`, `xapikey`, `usersession`.
  private static let secretEnds = [
    "token", "secret", "password", "passwd", "signature", "apikey", "cookie", "sessionid", "sessid",
    "authorization",
  ]
  private static let personEnds = ["on-behalf-of", "act-as", "client-cert"]
  private static let personWords: Set<String> = [
    "user", "userid", "username", "useremail", "tenant", "tenantid", "account", "accountid", "customer",
    "customerid", "identity", "impersonate", "email", "login", "principal", "onbehalfof", "sudo", "uid",
    "actor", "person", "member", "memberid", "device", "deviceid", "workspace", "workspaceid", "org",
    "orgid", "organization", "organizationid", "organisation",
  ]

  /// Asks for each word of a name, in lower case, whole pieces between marks before the words they are made of.
  private static func hasWord(_ name: String, _ isMeant: (String) -> Bool) -> Bool {
    let bytes = Array(name.utf8)
    for piece in bytes.split(whereSeparator: { !$0.isASCIILetter && !$0.isASCIIDigit }) {
      if isMeant(word(piece)) { return true }
      var start = piece.startIndex
      for index in piece.indices.dropFirst() where beginsWord(piece, index) {
        if isMeant(word(piece[start..<index])) { return true }
        start = index
      }
      if start > piece.startIndex, isMeant(word(piece[start...])) { return true }
    }
    return false
  }

  /// `sessionId`, `CSRFToken`: at a capital after a small letter, and at the last of several when a small one follows.
  private static func beginsWord(_ bytes: ArraySlice<UInt8>, _ index: Int) -> Bool {
    guard bytes[index].isASCIIUppercase else { return false }
    if !bytes[index - 1].isASCIIUppercase { return true }
    return index + 1 < bytes.endIndex && bytes[index + 1].isASCIILetter && !bytes[index + 1].isASCIIUppercase
  }

  /// In lower case, digits at its end left out: `auth0`, `oauth2`.
  private static func word(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes
    while let last = bytes.last, last.isASCIIDigit { bytes.removeLast() }
    return String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
  }
}
