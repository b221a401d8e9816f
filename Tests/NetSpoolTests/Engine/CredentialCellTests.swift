import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// 12 carriers of a secret, 3 ways to another origin, 5 statuses: 180 cells. The client certificate has its own test.
@Suite("Redirects to another origin leave credentials behind", .needsNginx)
struct CredentialCellTests {
  static let secret = "S3CR3T"

  /// What a request carries, and which field shows it at the origin that it is for.
  struct Carrier: Sendable {
    let field: String
    let apply: @Sendable (NetworkOperation) -> Void
  }

  static func header(_ name: String, _ value: String) -> Carrier {
    Carrier(field: name) { $0.setHeader(name, value) }
  }

  static func credentials(_ field: String, _ credentials: NetworkCredentials) -> Carrier {
    Carrier(field: field) { $0.setCredentials(credentials) }
  }

  static let carriers = [
    credentials("Authorization", .basic(user: secret, password: secret)),
    credentials("Authorization", .bearer(secret)),
    header("Authorization", "Digest username=\"\(secret)\""), header("Authorization", "NTLM \(secret)"),
    header("Proxy-Authorization", "Basic \(secret)"), header("Cookie", "session=\(secret)"),
    credentials("X-Api-Key", .fields(["X-Api-Key": secret])), header("X-Auth-Token", secret),
    Carrier(field: "Idempotency-Key") { $0.configure { $0.idempotencyKey = secret } },
    header("Origin", "https://\(secret).example"), header("Referer", "https://example.org/\(secret)"),
    header("X-Whatever", secret),
  ]

  enum Change: String, CaseIterable, Sendable { case host, port, scheme }

  static let cells = Change.allCases.flatMap { change in [301, 302, 303, 307, 308].map { (change, $0) } }

  /// A wire that trusts the server, and an origin elsewhere.
  private func withOther(_ body: (Wire, NginxServer, ScriptedOrigin) async throws -> Void) async throws {
    let (server, other) = (try NginxServer.shared(), try ScriptedOrigin(answering: .text("there")))
    try await withWire {
      $0.tls.caFile = server.certificates.authority
      $0.redirects.allowsDowngrade = true
    } _: {
      try await body($0, server, other)
    }
  }

  @Test(arguments: cells) func `no field arrives`(_ change: Change, _ status: Int) async throws {
    try await withOther { wire, server, other in
      wire.origin.on("/a", .redirect(to: wire.origin.url("/there", host: "localhost"), status: status))
      wire.origin.on("/b", .redirect(to: other.url("/there"), status: status))
      wire.origin.on("/there", .text("there"))
      for carrier in Self.carriers {
        let url =
          switch change {
          case .host: wire.origin.url("/a")
          case .port: wire.origin.url("/b")
          case .scheme: server.tlsURL("/to/\(status)/127.0.0.1:\(other.port)/there")
          }
        let operation = wire.engine.operation(url: url)
        carrier.apply(operation)
        let answer = try await wire.answer(operation)
        #expect(answer.text == "there" && answer.metrics.redirects == 1)
        if change != .scheme {
          let first = wire.origin.requests.last { $0.path == "/a" || $0.path == "/b" }
          #expect(first?.header(carrier.field) != nil, "\(carrier.field) was not sent at all")
        }
      }
      let arrived = (change == .host ? wire.origin.requests : other.requests).filter { $0.path == "/there" }
      #expect(arrived.count == Self.carriers.count)
      for request in arrived {
        let head = String(decoding: request.headBytes, as: UTF8.self)
        #expect(!head.contains(Self.secret) && request.header("Authorization") == nil)
      }
    }
  }

  @Test(arguments: cells) func `no certificate is shown`(_ change: Change, _ status: Int) async throws {
    try await withOther { wire, server, other in
      let place =
        switch change {
        case .host: "https/\(status)/127.0.0.1:\(server.mutualTLSPort)/seen"
        case .port: "https/\(status)/localhost:\(server.mutualTLSPort)/seen"
        case .scheme: "to/\(status)/127.0.0.1:\(other.port)/there"
        }
      let from = change == .host ? server.mutualTLSURL("/\(place)") : server.tlsURL("/\(place)")
      let operation = wire.engine.operation(url: from)
        .setCredentials(.clientCertificate(path: server.certificates.client))
      let result = await wire.result(of: operation)
      switch change {
      case .scheme: #expect(result.text == "there")
      // The server asks for a certificate and gets none.
      case .host, .port: #expect(result.error?.response?.status == 400, "\(result)")
      }
    }
  }
}
