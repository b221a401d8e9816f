extension NetworkCredentials {
  enum Scheme: Sendable {
    /// RFC 7617. Pre-emptive: sent with the first request; otherwise on a challenge.
    case basic(user: String, password: Secret, preemptive: Bool)
    /// Digest if it is offered, else Basic; on a challenge.
    case password(user: String, password: Secret)
    /// RFC 7616.
    case digest(user: String, password: Secret)
    /// `DOMAIN\user`; of connections, not of requests.
    case ntlm(user: String, password: Secret)
    /// RFC 6750.
    case bearer(Secret)
    /// Signature Version 4.
    case aws(AWSAccount)
    /// Fields of the caller's own, such as an API key.
    case fields(Headers)
    /// Asked when the origin answers 401.
    case provider(CredentialProvider)
  }

  /// A request's own parts win over the engine's.
  func over(_ other: NetworkCredentials?) -> NetworkCredentials {
    guard let other, scheme == nil || (certificate == nil && other.certificate != nil) else { return self }
    return NetworkCredentials(scheme: scheme ?? other.scheme, certificate: certificate ?? other.certificate)
  }

  /// The credential that a connection is bound to: it may serve no other. 0: none.
  var connectionIdentity: UInt64 {
    if case .ntlm = scheme { return id }
    return certificate.map { Self.identity($0.parts) } ?? 0
  }

  /// Every request that goes with it carries the same fields.
  var isConstant: Bool {
    switch scheme {
    case nil, .ntlm, .bearer, .fields, .basic(_, _, true): true
    case .basic(_, _, false), .password, .digest, .aws, .provider: false
    }
  }

  /// The fields that show it.
  var fieldNames: [String] {
    if case .fields(let fields) = scheme { fields.map(\.name) } else { ["Authorization"] }
  }

  var isNTLM: Bool { if case .ntlm = scheme { true } else { false } }

  static func identity(_ parts: [[UInt8]]) -> UInt64 {
    ProcessSecret.hash(parts).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Throws `invalidConfiguration`: a Basic user name with a colon, control bytes, fields that no origin may see.
  func check() throws(NetworkError) {
    for path in [certificate?.path, certificate?.key] {
      if let path, !FileStatus.mayBeLent(path) {
        throw NetworkError(.invalidConfiguration, cause: .clientCertificate)
      }
    }
    do throws(NetworkError) {
      switch scheme {
      case .basic(let user, let password, _), .password(let user, let password):
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw Self.invalid }
        try Self.check(user, password.revealed)
      case .digest(let user, let password): try Self.check(user, password.revealed)
      case .ntlm(let user, let password):
        guard LoadedCurl.hasNTLM else { throw NetworkError(.invalidConfiguration, cause: .lacksNTLM) }
        try Self.check(user, password.revealed)
      case .bearer(let token): try Self.check(token.revealed)
      case .aws(let account): guard account.isUsable else { throw Self.invalid }
      case .fields(let fields): try HeaderRules.check(sent: fields)
      case .provider, nil: break
      }
    } catch { throw error.code == .invalidConfiguration ? error : Self.invalid }
  }

  private static func check(_ texts: String...) throws(NetworkError) {
    guard !texts.contains(where: { $0.utf8.contains(where: \.isControl) }) else { throw invalid }
  }

  private static var invalid: NetworkError { NetworkError(.invalidConfiguration, cause: .credentials) }
}

extension NetworkCredentials.Scheme {
  /// What tells two apart.
  var parts: [[UInt8]] {
    func texts(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }
    switch self {
    case .basic(let user, let password, let preemptive):
      return texts(preemptive ? "basic!" : "basic", user, password.revealed)
    case .password(let user, let password): return texts("password", user, password.revealed)
    case .digest(let user, let password): return texts("digest", user, password.revealed)
    case .ntlm(let user, let password): return texts("ntlm", user, password.revealed)
    case .bearer(let token): return texts("bearer", token.revealed)
    case .aws(let account): return account.parts.map { Array($0.utf8) }
    case .fields(let fields): return [Array("fields".utf8), fields.block]
    case .provider(let provider): return texts("provider", String(provider.id))
    }
  }
}

extension ClientCertificate {
  var parts: [[UInt8]] {
    ["certificate", path, digest, key ?? "", password?.revealed ?? ""].map { Array($0.utf8) }
  }
}

extension NetworkCredentials {
  /// As curl's own words. What a provider would give is not known, and a field of the request wins.
  func add(to command: inout CurlCommand) {
    command.certificate = certificate
    guard !command.headers.contains("Authorization") else { return }
    command.credential = scheme
    switch scheme {
    case .password: command.options.append("--anyauth")
    case .aws(let account):
      if let token = account.sessionToken {
        command.secretHeaders.append(name: "X-Amz-Security-Token", value: token.revealed)
      }
    case .fields(let fields):
      for field in fields where !command.headers.contains(field.name) {
        command.secretHeaders.append(name: field.name, value: field.value)
      }
    case nil, .basic, .digest, .ntlm, .bearer, .provider: break
    }
  }
}

/// The certificate that the client shows, and its private key: files that libcurl's TLS library reads when a
/// connection is made.
struct ClientCertificate: Sendable, Hashable {
  /// PEM, or PKCS#12 with the key inside.
  var path: String
  /// PEM; nil when the key is in the same file.
  var key: String?
  var password: Secret?
  /// Of the file as it was at first: another certificate in its place is another account.
  fileprivate let digest: String

  init(path: String, key: String? = nil, password: String? = nil) {
    self.path = path
    digest = FileDigest.text(of: path)
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
