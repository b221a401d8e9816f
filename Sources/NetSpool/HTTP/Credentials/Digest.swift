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

  var realm: [UInt8]
  var nonce: [UInt8]
  var opaque: [UInt8]?
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
      let algorithm = Self.algorithm(challenge.text("algorithm")),
      let protection = Self.protection(challenge.text("qop"))
    else { return nil }
    self.realm = realm
    self.nonce = nonce
    self.algorithm = algorithm
    self.protection = protection
    opaque = values["opaque"]
    isStale = challenge.text("stale")?.asciiLowercased == "true"
    hashesUser = challenge.text("userhash")?.asciiLowercased == "true"
  }

  /// The first that can be answered: servers list what they prefer first (RFC 7616 section 3.7).
  static func first(in challenges: [AuthenticationChallenge]) -> DigestChallenge? {
    challenges.lazy.compactMap(DigestChallenge.init).first
  }

  private static func algorithm(_ name: String?) -> Algorithm? {
    guard let name else { return .md5 }
    let known: [Algorithm] = [.md5, .md5Session, .sha256, .sha256Session]
    return name.asciiLowercased.flatMap { name in known.first { $0.rawValue.lowercased() == name } }
  }

  /// Nil: neither of those offered is known.
  private static func protection(_ list: String?) -> Protection?? {
    guard let list else { return .some(nil) }
    let offered = list.utf8.map(\.asciiLowercased).split { $0.isBlank || $0 == UInt8(ascii: ",") }
    let known = [Protection.authentication, .integrity].first { known in
      offered.contains { $0.elementsEqual(known.rawValue.utf8) }
    }
    return known.map { .some($0) }
  }
}

/// The `Authorization` value that answers a Digest challenge (RFC 7616 section 3.4): pure, all it needs is given.
struct DigestAnswer {
  var challenge: DigestChallenge
  var user: String
  var password: String
  var method: String
  /// The request target, as it is sent.
  var target: String
  /// The number of requests that this nonce has served, this one included.
  var count: UInt32 = 1
  var clientNonce: String
  /// For `auth-int`.
  var body: [UInt8] = []

  /// `Digest username="…", realm="…", …`; what the challenge said goes back to the byte.
  var value: [UInt8] {
    var parts = [userPart, quoted("realm", challenge.realm), quoted("nonce", challenge.nonce)]
    parts.append(quoted("uri", Array(target.utf8)))
    parts.append(quoted("response", response))
    parts.append(Array("algorithm=\(challenge.algorithm.rawValue)".utf8))
    if let protection = challenge.protection {
      parts.append(Array("qop=\(protection.rawValue)".utf8))
      parts.append(Array("nc=\(countText)".utf8))
    }
    if challenge.protection != nil || challenge.algorithm.isSession {
      parts.append(quoted("cnonce", Array(clientNonce.utf8)))
    }
    if let opaque = challenge.opaque { parts.append(quoted("opaque", opaque)) }
    if challenge.hashesUser { parts.append(Array("userhash=true".utf8)) }
    return Array("Digest ".utf8) + parts.joined(separator: ", ".utf8)
  }

  private var userPart: [UInt8] {
    if challenge.hashesUser { return quoted("username", hash(Array(user.utf8), challenge.realm)) }
    // A quoted string holds ASCII; anything else goes by RFC 8187.
    guard user.utf8.allSatisfy({ $0 < 0x80 }) else {
      return Array("username*=UTF-8''\(PercentCoding.escaped(user.utf8))".utf8)
    }
    return quoted("username", Array(user.utf8))
  }

  private var response: [UInt8] {
    guard let protection = challenge.protection else { return hash(secretHash, challenge.nonce, requestHash) }
    return hash(
      secretHash, challenge.nonce, Array(countText.utf8), Array(clientNonce.utf8),
      Array(protection.rawValue.utf8), requestHash)
  }

  /// A1.
  private var secretHash: [UInt8] {
    let plain = hash(Array(user.utf8), challenge.realm, Array(password.utf8))
    return challenge.algorithm.isSession ? hash(plain, challenge.nonce, Array(clientNonce.utf8)) : plain
  }

  /// A2.
  private var requestHash: [UInt8] {
    let parts = [Array(method.utf8), Array(target.utf8)]
    return challenge.protection == .integrity
      ? hash(parts[0], parts[1], hash(body)) : hash(parts[0], parts[1])
  }

  private var countText: String { Hexadecimal.text(count) }

  /// Of the parts with colons between them, in hexadecimal.
  private func hash(_ parts: [UInt8]...) -> [UInt8] {
    let bytes = Array(parts.joined(separator: ":".utf8))
    switch challenge.algorithm {
    case .md5, .md5Session: return Array(Hexadecimal.text(MD5.hash(bytes)).utf8)
    case .sha256, .sha256Session: return Array(Hexadecimal.text(SHA256.of(bytes)).utf8)
    }
  }

  private func quoted(_ name: String, _ value: [UInt8]) -> [UInt8] { Array("\(name)=".utf8) + value.quoted }
}
