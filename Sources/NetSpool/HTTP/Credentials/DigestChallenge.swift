/// A Digest challenge that can be answered (RFC 7616 section 3.3).
struct DigestChallenge: Sendable, Hashable {
  enum Algorithm: String, Sendable, Hashable {
    case md5 = "MD5"
    case md5Session = "MD5-sess"
    case sha256 = "SHA-256"
    case sha256Session = "SHA-256-sess"

    var isSession: Bool { self == .md5Session || self == .sha256Session }
  }

  enum Protection: String, Sendable, Hashable {
    case authentication = "auth"
    /// The body counts as well.
    case integrity = "auth-int"
  }

  var realm: String
  var nonce: String
  var opaque: String?
  var algorithm: Algorithm
  /// Nil: the challenge is of RFC 2069, without a counter.
  var protection: Protection?
  /// The nonce was right once: the password is not in doubt.
  var isStale: Bool
  var hashesUser: Bool

  /// Nil for another scheme, and for an algorithm or protection that is not known.
  init?(_ challenge: AuthenticationChallenge) {
    let values = challenge.parameters
    guard challenge.scheme == "digest", let realm = values["realm"], let nonce = values["nonce"],
      let algorithm = Self.algorithm(values["algorithm"]), let protection = Self.protection(values["qop"])
    else { return nil }
    self.realm = realm
    self.nonce = nonce
    self.algorithm = algorithm
    self.protection = protection
    opaque = values["opaque"]
    isStale = values["stale"]?.lowercased() == "true"
    hashesUser = values["userhash"]?.lowercased() == "true"
  }

  /// The first that can be answered: servers list what they prefer first (RFC 7616 section 3.7).
  static func first(in challenges: [AuthenticationChallenge]) -> DigestChallenge? {
    for challenge in challenges {
      if let digest = DigestChallenge(challenge) { return digest }
    }
    return nil
  }

  private static func algorithm(_ name: String?) -> Algorithm? {
    guard let name = name?.lowercased() else { return .md5 }
    return [.md5, .md5Session, .sha256, .sha256Session].first { $0.rawValue.lowercased() == name }
  }

  /// Nil: neither of those offered is known.
  private static func protection(_ list: String?) -> Protection?? {
    guard let list else { return .some(nil) }
    let offered = list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
    if offered.contains("auth") { return .authentication }
    return offered.contains("auth-int") ? .integrity : nil
  }
}
