import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Challenges and what follows from them (RFC 9110 section 11.6.1)")
struct ChallengeTests {
  static func read(_ values: String...) -> [AuthenticationChallenge] {
    var fields = Headers()
    for value in values { fields.append(name: "www-authenticate", value: value) }
    return AuthenticationChallenge.all(in: fields)
  }

  @Test func `tells schemes from parameters`() {
    let all = Self.read(
      "Basic realm=\"a, b=c\", charset=UTF-8, Digest realm=r , nonce = \"n\" , qop=\"auth\",Negotiate",
      "NTLM TlRM==")
    #expect(all.map(\.scheme) == ["basic", "digest", "negotiate", "ntlm"])
    #expect(all.first?.texts == ["realm": "a, b=c", "charset": "UTF-8"])
    #expect(all.dropFirst().first?.texts == ["realm": "r", "nonce": "n", "qop": "auth"])
    #expect(all.last?.token == "TlRM==" && all.dropLast().last?.token == nil)
  }

  @Test(arguments: [
    ("", 0), (",,", 0), ("Basic", 1), ("Basic realm", 1), ("Basic realm=\"x", 1), ("=", 0), ("\"Basic\"", 0),
    ("Basic realm=\"\\", 1), ("Basic , Basic", 2), ("NTLM", 1), ("a=b", 1),
  ]) func `stands what servers send`(_ text: String, _ count: Int) { #expect(Self.read(text).count == count) }

  @Test func `reads no more than it must`() {
    #expect(Self.read((0..<100).map { "S\($0)" }.joined(separator: ", ")).count == 16)
  }

  @Test func `stands every beginning`() {
    let text = "Digest realm=\"a\\\"b\", nonce=\"n\", qop=\"auth,auth-int\", Basic realm=x, NTLM abc=="
    for end in 0...text.utf8.count {
      #expect(Self.read(String(decoding: text.utf8.prefix(end), as: UTF8.self)).count <= 4)
    }
  }

  @Test func `stands noise`() {
    var random = SplitMix64(seed: 1_120)
    for _ in 0..<2_000 {
      let noise = (0..<Int.random(in: 0...60, using: &random)).map { _ in
        Array("ab=\", \\\t;/+".utf8).randomElement(using: &random) ?? 0x20
      }
      _ = Self.read(String(decoding: noise, as: UTF8.self))
    }
  }

  static let secret = Secret("p")

  /// What is offered, what was sent, what follows.
  @Test(arguments: [
    ("Basic realm=a", 0, "basic"), ("Digest realm=r, nonce=n, qop=auth", 0, "digest"),
    ("Basic realm=a, Digest realm=r, nonce=n", 0, "digest"), ("NTLM", 0, "refused"), ("", 0, "refused"),
    ("Digest realm=r, nonce=n", 1, "refused"), ("Digest realm=r, nonce=n, stale=true", 1, "digest"),
    ("Digest realm=r, nonce=n, stale=true", 2, "refused"), ("Basic realm=a", 1, "refused"),
  ]) func `a password is answered once`(_ offer: String, _ rounds: Int, _ next: String) {
    var sent = AuthenticationDecision.Sent()
    sent.rounds = rounds
    let decision = AuthenticationDecision.make(
      .password(user: "u", password: Self.secret), challenges: Self.read(offer), sent: sent)
    #expect("\(decision)".hasPrefix(next))
  }

  @Test func `another scheme is never answered`() {
    let offers = Self.read("Basic realm=a, Digest realm=r, nonce=n, NTLM")
    let sent = AuthenticationDecision.Sent()
    let schemes: [(NetworkCredentials.Scheme, String)] = [
      (.bearer(Self.secret), "refused"), (.fields(Headers()), "refused"),
      (.ntlm(user: "u", password: Self.secret), "refused"),
      (.basic(user: "u", password: Self.secret, preemptive: false), "basic"),
      (.digest(user: "u", password: Self.secret), "digest"),
    ]
    for (scheme, next) in schemes {
      #expect("\(AuthenticationDecision.make(scheme, challenges: offers, sent: sent))".hasPrefix(next))
    }
    let basicOnly = AuthenticationDecision.make(
      .digest(user: "u", password: Self.secret), challenges: Self.read("Basic realm=a"), sent: sent)
    #expect(basicOnly == .refused)
  }

  @Test func `equal credentials have one identity`() {
    func basic(_ user: String, _ password: String) -> UInt64 {
      NetworkCredentials(scheme: .basic(user: user, password: Secret(password), preemptive: true)).id
    }
    #expect(basic("a", "b") == basic("a", "b") && basic("a", "b") != basic("a", "c"))
    #expect(basic("a", "bc") != basic("ab", "c"))
    #expect(
      NetworkCredentials(scheme: .bearer(Secret("a"))).id
        != NetworkCredentials(scheme: .bearer(Secret("b"))).id)
  }

  @Test func `a secret shows itself nowhere`() {
    var text = ""
    dump(
      NetworkCredentials.Scheme.basic(user: "anna", password: Secret("S3CR3T"), preemptive: true), to: &text)
    dump(ClientCertificate(path: "/p", password: "S3CR3T"), to: &text)
    text += "\(Secret("S3CR3T")) \(String(reflecting: Secret("S3CR3T")))"
    #expect(!text.contains("S3CR3T") && text.contains("anna"))
  }
}

extension AuthenticationChallenge {
  fileprivate var texts: [String: String] { parameters.mapValues { Headers.text($0) } }
}
