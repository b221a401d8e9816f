import Testing

/// A server that is right or wrong in one way, and what the engine must say to it.
struct TLSVariant: Sendable, CustomTestStringConvertible {
  enum Verdict: Sendable, Hashable {
    case accepts
    /// `tlsRejected` with this reason, and no byte of the request.
    case rejects(String)
  }

  let name: String
  /// One of make-variants.
  let certificate: String
  var host = "localhost"
  /// More for `openssl s_server`, which runs where the certificates are.
  var arguments: [String] = []
  let verdict: Verdict

  var testDescription: String { name }

  static let all: [TLSVariant] = certificates + hosts + protocols

  private static let certificates: [TLSVariant] = [
    .init("expired", .rejects("expired")), .init("not-yet-valid", .rejects("notYetValid")),
    .init("self-signed", .rejects("untrusted")), .init("untrusted-root", .rejects("untrusted")),
    .init("incomplete-chain", .rejects("untrusted")), .init("expired-intermediate", .rejects("expired")),
    .init("no-authority", .rejects("untrusted")), .init("name-constraint", .rejects("untrusted")),
    .init("client-only", .rejects("untrusted")), .init("sha1", .rejects("weak"), weak),
    .init("md5", .rejects("weak"), weak), .init("rsa-1024", .rejects("weak"), weak),
    .init("thousand-names", .accepts), .init("rsa-8192", .accepts), .init("ecc-256", .accepts),
    .init("no-subject", .accepts), .init("reversed-chain", .accepts),
    // Nobody is asked whether a certificate is revoked: that is documented.
    .init("revoked", .accepts),
  ]

  private static let hosts: [TLSVariant] = [
    .init("wrong-host", .rejects("hostMismatch")), .init("wildcard", host: "a.wild.localhost", .accepts),
    .init("wildcard", host: "a.b.wild.localhost", .rejects("hostMismatch")),
    .init("wrong-address", host: "127.0.0.1", .rejects("hostMismatch")),
    // libcurl looks at the common name where there are no other names (curl's openssl.c, as of 7.88).
    .init("common-name-only", .accepts),
  ]

  private static let weak = ["-cipher", "DEFAULT:@SECLEVEL=0"]

  private static let protocols: [TLSVariant] = [
    .init(as: "TLS 1.0", "good-rsa", .rejects("protocol"), ["-tls1"] + weak),
    .init(as: "TLS 1.1", "good-rsa", .rejects("protocol"), ["-tls1_1"] + weak),
    .init(as: "TLS 1.2", "good", .accepts, ["-tls1_2"]), .init(as: "TLS 1.3", "good", .accepts, ["-tls1_3"]),
    .init(as: "no cipher", "good-rsa", .rejects("protocol"), ["-tls1_2", "-cipher", "eNULL:@SECLEVEL=0"]),
    .init(
      as: "nobody", "good-rsa", .rejects("protocol"), ["-tls1_2", "-nocert", "-cipher", "aNULL:@SECLEVEL=0"]),
    .init(
      as: "DH of 1024 bits", "good-rsa", .rejects("weak"),
      ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0", "-dhparam", "dh-1024.pem"]),
    .init(as: "DH of 2048 bits", "good-rsa", .accepts, ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"]),
    // It would keep the loop for half a second.
    .init(
      as: "DH of 8192 bits", "good-rsa", .rejects("weak"),
      ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256", "-dhparam", "dh-8192.pem"]),
    .init(
      as: "RSA key exchange and CBC", "good-rsa", .rejects("protocol"), ["-tls1_2", "-cipher", "AES128-SHA"]),
  ]

  private init(
    as name: String? = nil, _ certificate: String, host: String = "localhost", _ verdict: Verdict,
    _ arguments: [String] = []
  ) {
    self.name = name ?? (host == "localhost" ? certificate : "\(certificate) at \(host)")
    self.certificate = certificate
    self.host = host
    self.arguments = arguments
    self.verdict = verdict
  }
}
