import Testing

@testable import NetSpool

@Suite("Digest authentication (RFC 7616)")
struct DigestTests {
  @Test(arguments: [
    ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
  ]) func `hashes by the vectors of RFC 1321`(_ text: String, _ hash: String) {
    #expect(Hexadecimal.text(MD5.hash(Array(text.utf8))) == hash)
  }

  /// Around a block's end, against each other: a message that is longer by one byte has another hash.
  @Test func `pads every length`() {
    let hashes = (0..<200).map { MD5.hash([UInt8](repeating: 0x61, count: $0)) }
    #expect(Set(hashes).count == 200 && hashes.allSatisfy { $0.count == 16 })
  }

  private static func challenge(_ text: String) throws -> DigestChallenge {
    try #require(DigestChallenge.first(in: ChallengeTests.read(text)))
  }

  private static func answer(
    to text: String, user: String = "u", method: String = "GET"
  ) throws -> DigestAnswer {
    DigestAnswer(
      challenge: try challenge(text), user: user, password: "p", method: method, target: "/",
      clientNonce: "c")
  }

  @Test(arguments: [
    ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
    ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
  ]) func `answers the example of the standard`(_ algorithm: String, _ response: String) throws {
    let text =
      "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), "
      + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
      + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
    let answer = DigestAnswer(
      challenge: try Self.challenge(text), user: "Mufasa", password: "Circle of Life", method: "GET",
      target: "/dir/index.html", clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
    #expect(answer.text.contains("response=\"\(response)\""))
    #expect(answer.text.contains("algorithm=\(algorithm), qop=auth, nc=00000001, cnonce="))
    #expect(answer.text.contains("opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""))
  }

  @Test func `answers the example of RFC 2617`() throws {
    let challenge = try Self.challenge(
      "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
    )
    let answer = DigestAnswer(
      challenge: challenge, user: "Mufasa", password: "Circle Of Life", method: "GET",
      target: "/dir/index.html", clientNonce: "0a4f113b")
    #expect(answer.text.contains("response=\"6629fae49393a05397450978507c4ef1\""))
  }

  @Test func `answers an old challenge without counter`() throws {
    let answer = try Self.answer(to: "Digest realm=\"r\", nonce=\"n\"")
    let secret = Hexadecimal.text(MD5.hash(Array("u:r:p".utf8)))
    let request = Hexadecimal.text(MD5.hash(Array("GET:/".utf8)))
    let response = Hexadecimal.text(MD5.hash(Array("\(secret):n:\(request)".utf8)))
    #expect(answer.text.contains("response=\"\(response)\""))
    #expect(!answer.text.contains("qop=") && !answer.text.contains("cnonce="))
  }

  @Test func `counts the body when asked to`() throws {
    let text = "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""
    var answer = try Self.answer(to: text, method: "PUT")
    let empty = answer.text
    answer.body = Array("body".utf8)
    #expect(try Self.challenge(text).protection == .integrity && answer.text != empty)
    #expect(answer.text.contains("qop=auth-int"))
  }

  @Test func `what the challenge says goes back to the byte`() throws {
    var fields = Headers()
    var challenge = Array("Digest realm=\"caf".utf8)
    challenge += [0xE9]
    challenge += "\", nonce=\"".utf8
    challenge += [0xFF, 0xFE, UInt8(ascii: "\"")]
    fields.append(name: "WWW-Authenticate".utf8, value: challenge)
    let read = try #require(DigestChallenge.first(in: AuthenticationChallenge.all(in: fields)))
    let answer = DigestAnswer(
      challenge: read, user: "u", password: "p", method: "GET", target: "/", clientNonce: "c")
    let secret = Array(Hexadecimal.text(MD5.hash(Array("u:caf".utf8) + [0xE9] + ":p".utf8)).utf8)
    let request = Hexadecimal.text(MD5.hash(Array("GET:/".utf8)))
    let response = MD5.hash(secret + ":".utf8 + [0xFF, 0xFE] + ":\(request)".utf8)
    let expected = Array("Digest username=\"u\", realm=\"caf".utf8) + [0xE9] + "\", nonce=\"".utf8
    #expect(answer.value.starts(with: expected + [0xFF, 0xFE] + "\", uri=\"/\"".utf8))
    #expect(answer.text.contains("response=\"\(Hexadecimal.text(response))\""))
  }

  @Test func `quotes what needs it`() throws {
    let answer = try Self.answer(to: "Digest realm=\"a\\\"b\", nonce=\"n\", qop=auth", user: "jürgen")
    #expect(answer.text.contains("username*=UTF-8''j%C3%BCrgen"))
    #expect(answer.text.contains("realm=\"a\\\"b\""))
  }

  @Test func `hides the user when asked to`() throws {
    let answer = try Self.answer(to: "Digest realm=\"r\", nonce=\"n\", qop=auth, userhash=true", user: "anna")
    #expect(!answer.text.contains("anna") && answer.text.contains("userhash=true"))
  }

  @Test(arguments: [
    "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256", "Digest realm=\"r\"", "Digest nonce=\"n\"",
    "Digest realm=\"r\", nonce=\"n\", qop=\"token\"", "Basic realm=\"r\"",
  ]) func `answers no other`(_ text: String) {
    #expect(DigestChallenge.first(in: ChallengeTests.read(text)) == nil)
  }
}

extension DigestAnswer {
  var text: String { Headers.text(value) }
}
