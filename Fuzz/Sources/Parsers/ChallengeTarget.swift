@testable import NetSpool

/// WWW-Authenticate, and what is answered to it.
///
/// Input: lines, each a field's value.
enum ChallengeTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    var fields = Headers()
    while !input.isAtEnd {
      let line = input.line().filter { $0 != 0x0D && $0 != 0 }
      fields.append(name: "WWW-Authenticate".utf8, value: FieldNames.trimmed(line[...]))
    }
    let challenges = AuthenticationChallenge.all(in: fields)
    require(challenges.count <= 16, "challenges are bounded")
    for challenge in challenges { check(challenge) }
    if let digest = DigestChallenge.first(in: challenges) { check(digest) }
  }

  /// Written plainly it is read as the same one.
  private static func check(_ challenge: AuthenticationChallenge) {
    require(challenge.scheme.utf8.allSatisfy(\.isTokenByte), "a scheme is a token")
    require(challenge.token == nil || challenge.parameters.isEmpty, "it has a token or parameters")
    var text = challenge.scheme
    if let token = challenge.token { text += " \(token)" }
    let pairs = challenge.parameters.map { name, value in Array("\(name)=".utf8) + quoted(value) }
    var bytes = Array(text.utf8)
    if !pairs.isEmpty { bytes += Array(" ".utf8) + Array(pairs.joined(separator: ", ".utf8)) }
    var fields = Headers()
    fields.append(name: "WWW-Authenticate".utf8, value: bytes)
    require(AuthenticationChallenge.all(in: fields) == [challenge], "it is read as it was written: \(text)")
  }

  /// No challenge makes a second field of its answer.
  private static func check(_ challenge: DigestChallenge) {
    for user in ["user", "us\"er\\", "bénutzer"] {
      var answer = DigestAnswer(
        challenge: challenge, user: user, password: "secret", method: "GET", target: "/a?b",
        count: 0xABCD, clientNonce: "0a1b")
      answer.body = [1, 2, 3]
      let value = answer.value
      var fields = Headers()
      fields.append(name: "Authorization".utf8, value: value)
      checkSendable(fields)
      let offered = [challenge.realm, challenge.nonce, challenge.opaque ?? []].map { Headers.text($0) }
      require(
        !Headers.text(value).holds("secret") || offered.contains { $0.holds("secret") }, "no password is sent"
      )
      checkAnswer(fields, challenge)
    }
  }

  /// A server reads back what it sent.
  private static func checkAnswer(_ fields: Headers, _ challenge: DigestChallenge) {
    guard let sent = AuthenticationChallenge.all(in: fields, named: "Authorization").first else {
      broken("an answer can be read")
    }
    require(sent.scheme == "digest", "it is of the same scheme")
    require(sent.parameters["realm"] == challenge.realm, "with the same realm")
    require(sent.parameters["nonce"] == challenge.nonce, "the same nonce")
    require(sent.parameters["opaque"] == challenge.opaque, "the same opaque")
    require(sent.text("uri") == "/a?b", "for the same target")
  }

  private static func quoted(_ value: [UInt8]) -> [UInt8] {
    var output = Array("\"".utf8)
    for byte in value {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
      output.append(byte)
    }
    return output + "\"".utf8
  }
}
