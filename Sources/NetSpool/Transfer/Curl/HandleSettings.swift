internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

/// What a handle is given once, for its whole life.
struct HandleSettings: Sendable {
  /// 16 KiB suits thumbnails; large bodies want more (CURLOPT_BUFFERSIZE).
  var receiveBufferBytes = 16 << 10
  var tls = TLSSettings()
  /// For http and for https; nil is none, whatever the environment says.
  var plainProxy: ProxySettings?
  var secureProxy: ProxySettings?
  /// The addresses to which connections may lead.
  var egress = NetworkEngine.Egress.any
  /// Cookies are kept in memory and sent back, for this engine alone.
  var keepsCookies = false
  /// The cookies that are there from the start, as lines of Netscape's file.
  var cookieLines: [String] = []
  var httpVersion = NetworkEngine.HTTPVersion.automatic
  var way = ConnectionWay.direct
  /// Seconds; 0: as long as they are good.
  var connectionAgeMax = 0
  /// Shown to the origin when it asks.
  var certificate: ClientCertificate?
  /// `DOMAIN\user` and the password, for libcurl to answer with.
  var ntlm: (user: String, password: Secret)?
  /// The credential that its connections are bound to: they serve no other. 0: none.
  var connectionIdentity: UInt64 = 0

  /// Connections are no engine's but this one's, whatever its reach: they go with its cookies, were opened with a password
  /// that others may not know, or speak what others may not.
  var needsOwnConnections: Bool {
    keepsCookies || plainProxy?.account != nil || secureProxy?.account != nil || httpVersion != .automatic
  }

  var hasProxy: Bool { plainProxy != nil || secureProxy != nil }

  func proxy(isSecure: Bool) -> ProxySettings? { isSecure ? secureProxy : plainProxy }

  /// The same; nil also for an origin that it excepts.
  func proxy(for origin: URLPieces.Origin) -> ProxySettings? {
    proxy(isSecure: origin.scheme == "https").flatMap { $0.excepts(origin) ? nil : $0 }
  }

  /// The settings of a handle for one origin: without a proxy where that is asked directly.
  func leading(to origin: URLPieces.Origin) -> HandleSettings {
    guard hasProxy, proxy(for: origin) == nil else { return self }
    var settings = self
    (settings.plainProxy, settings.secureProxy) = (nil, nil)
    return settings
  }

  /// By which its connections are verified, to the origin or to a proxy; nil: none is, or libcurl reads them.
  func authorities(isSecure: Bool) -> Authorities? {
    guard Authorities.areLent else { return nil }
    return isSecure && tls.verifies || proxy(isSecure: isSecure)?.isSecure == true ? tls.authorities : nil
  }

  /// A connection may turn out to be HTTP/2, or is.
  func mayBeHTTP2(isSecure: Bool) -> Bool {
    switch httpVersion {
    case .automatic: isSecure
    case .http1: false
    case .http2PriorKnowledge: true
    }
  }

  /// For bodies that go to streams, which are the long ones; a short body touches only its beginning.
  static let streamBufferBytes = 64 << 10

  /// Without TLS there is no HTTP/2, and libcurl must know it: a handle that might multiplex waits, with
  /// CURLOPT_PIPEWAIT, until the first connection's first answer has told whether it can.
  func apply(to easy: UnsafeMutableRawPointer, isSecure: Bool) {
    let proxy = proxy(isSecure: isSecure)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXY, proxy?.url ?? "")
    // Never nil: else the environment is searched for it.
    unsafe cnetspool_easy_set_string(easy, CURLOPT_NOPROXY, "")
    let authorities = authorities(isSecure: isSecure)
    if let proxy { unsafe proxy.apply(to: easy, tls.trust, authorities) }
    if keepsCookies { unsafe cnetspool_easy_set_string(easy, CURLOPT_COOKIEFILE, "") }
    unsafe cnetspool_easy_set_long(easy, CURLOPT_HTTP_VERSION, curlVersion(isSecure: isSecure))
    unsafe way.apply(to: easy)
    if connectionAgeMax > 0 {
      unsafe cnetspool_easy_set_long(easy, CURLOPT_MAXLIFETIME_CONN, connectionAgeMax)
    }
    unsafe tls.apply(to: easy, authorities)
    if let certificate { unsafe certificate.apply(to: easy) }
    guard let ntlm else { return }
    // The one scheme, never CURLAUTH_ANY: a hostile origin would choose the weakest.
    unsafe cnetspool_easy_set_long(easy, CURLOPT_HTTPAUTH, Int(cnetspool_auth_ntlm))
    unsafe cnetspool_easy_set_string(easy, CURLOPT_USERNAME, ntlm.user)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PASSWORD, ntlm.password.revealed)
  }

  private func curlVersion(isSecure: Bool) -> Int {
    guard mayBeHTTP2(isSecure: isSecure) else { return Int(CURL_HTTP_VERSION_1_1) }
    return Int(isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
  }

  /// The connection is authenticated, not the request, so it is used once (CURLOPT_FORBID_REUSE).
  var alwaysEndsConnection: Bool { ntlm != nil }
}

extension HandleSettings {
  /// What of a credential belongs to the connection, and not to a request's fields.
  mutating func identify(as credential: NetworkCredentials) {
    certificate = credential.certificate
    if case .ntlm(let user, let password) = credential.scheme {
      ntlm = (user, password)
      httpVersion = .http1
    }
    connectionIdentity = credential.connectionIdentity
  }
}

/// The scope in which a handle may be used again, apart from its origin: it never moves to another engine, whose
/// credentials and trust may differ, and its buffer is only ever as large as it was made.
struct HandleScope: Sendable, Hashable {
  let engine: UInt64
  let streams: Bool
  /// The number of the credential; 0: none.
  var identity: UInt64 = 0
  var connections = ConnectionChoice.shared(0)
}

/// Which connections to its origin a handle uses.
enum ConnectionChoice: Sendable, Hashable {
  /// The connections that requests share. The number is another one once one of them has gone silent (`Origin.leave`).
  case shared(Int)
  /// A connection that no other request uses.
  case own
}

/// How the origin proves who it is.
struct TLSSettings: Sendable, Hashable {
  /// The authorities whose word counts.
  var trust = TrustStore.system
  /// The same, with what they hold.
  var authorities: Authorities?
  /// `sha256//…;sha256//…` (CURLOPT_PINNEDPUBLICKEY).
  var pinnedPublicKey: String?
  /// False believes anybody.
  var verifies = true
  /// A certificate that names its host only in its subject is refused (RFC 9110 section 4.3.4).
  var requiresAlternativeName = false

  /// Without verification no authorities are needed, and libcurl shall read none.
  private var trusted: TrustStore { verifies ? trust : .files(bundle: nil, folder: nil) }

  /// TLS 1.2 or later, forward secrecy and authenticated encryption only.
  static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:!aNULL"

  func apply(to easy: UnsafeMutableRawPointer, _ authorities: Authorities?) {
    unsafe cnetspool_easy_set_long(easy, CURLOPT_SSL_VERIFYPEER, verifies ? 1 : 0)
    unsafe cnetspool_easy_set_long(easy, CURLOPT_SSL_VERIFYHOST, verifies ? 2 : 0)
    unsafe cnetspool_easy_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    unsafe cnetspool_easy_set_string(easy, CURLOPT_SSL_CIPHER_LIST, Self.ciphers)
    unsafe TLSContext.apply(to: easy, authorities)
    if requiresAlternativeName {
      unsafe cnetspool_easy_set_long(easy, CURLOPT_CERTINFO, 1)
      // Of a session that is resumed, libcurl 8.11 and later show no certificate.
      unsafe cnetspool_easy_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
    }
    unsafe trusted.apply(
      to: easy, bundle: CURLOPT_CAINFO, folder: CURLOPT_CAPATH, verifies ? authorities : nil)
    if let pin = pinnedPublicKey { unsafe cnetspool_easy_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pin) }
  }
}

extension ClientCertificate {
  /// Files are read by the TLS library when it connects; one that it cannot use ends with
  /// CURLE_SSL_CERTPROBLEM.
  func apply(to easy: UnsafeMutableRawPointer) {
    unsafe cnetspool_easy_set_string(easy, CURLOPT_SSLCERT, path)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_SSLCERTTYPE, isPKCS12 ? "P12" : "PEM")
    if let key { unsafe cnetspool_easy_set_string(easy, CURLOPT_SSLKEY, key) }
    // An empty one, too: without it OpenSSL would ask on the terminal.
    unsafe cnetspool_easy_set_string(easy, CURLOPT_KEYPASSWD, password?.revealed ?? "")
  }

  /// Judges by the first byte: DER begins with a SEQUENCE, PEM with a dash or a comment.
  private var isPKCS12: Bool {
    (try? FileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK).bytes(atMost: 1)) == [0x30]
  }
}

extension ProxySettings {
  func apply(to easy: UnsafeMutableRawPointer, _ trust: TrustStore, _ authorities: Authorities?) {
    // Our fields are for the origin; what goes to the proxy with CONNECT is libcurl's alone.
    unsafe cnetspool_easy_set_long(easy, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    unsafe cnetspool_easy_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXY_SSL_CIPHER_LIST, TLSSettings.ciphers)
    unsafe trust.apply(to: easy, bundle: CURLOPT_PROXY_CAINFO, folder: CURLOPT_PROXY_CAPATH, authorities)
    guard let account else { return }
    unsafe cnetspool_easy_set_long(easy, CURLOPT_PROXYAUTH, account.scheme.curl)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXYUSERNAME, account.user)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXYPASSWORD, account.password.revealed)
  }
}

extension NetworkEngine.Proxy.Authentication {
  /// A single scheme, never CURLAUTH_ANY.
  fileprivate var curl: Int {
    switch self {
    case .basic: Int(cnetspool_auth_basic)
    case .digest: Int(cnetspool_auth_digest)
    case .ntlm: Int(cnetspool_auth_ntlm)
    }
  }
}
