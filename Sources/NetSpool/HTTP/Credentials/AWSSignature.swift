/// The account that signs, for which region and service.
struct AWSAccount: Sendable {
  var accessKey: String
  var secretKey: Secret
  /// Of credentials that were lent for a while.
  var sessionToken: Secret?
  var region: String
  var service: String

  /// S3 and what speaks like it escapes a path once and wants the body's hash as a field.
  var isStorage: Bool { service.hasPrefix("s3") }
}

/// Signature Version 4 of Amazon's services and of those that speak like them
/// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Pure.
///
/// Not libcurl's (CURLOPT_AWS_SIGV4(3)): version 7.88 signs a query in the order in which it stands, names fields that it
/// does not send, and signs every body that it asks for as an empty one; later versions escape the path otherwise.
struct AWSSignature {
  let account: AWSAccount
  var method: String
  /// Path and query as they are sent.
  var target: String
  /// `Host`, if the fields name none.
  var authority: String
  /// All that the request is sent with. What stands here already is not added.
  var fields: Headers
  /// Nil: not known before it is sent.
  var payload: [UInt8]?
  /// `20130524T000000Z`
  var stamp: String

  /// What the request needs besides its own fields, `Authorization` first.
  var added: Headers {
    let signed = self.signed
    let names = signed.map(\.name).joined(separator: ";")
    let signature = Hexadecimal.text(HMAC.sha256(Array(textToSign(signed).utf8), key: key))
    var added = Headers()
    added.append(
      name: "Authorization",
      value:
        "AWS4-HMAC-SHA256 Credential=\(account.accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
    )
    for field in missing { added.append(name: field.name, value: field.value) }
    return added
  }

  /// The fields that belong to the signature and that the request does not have.
  private var missing: [(name: String, value: String)] {
    var missing = [(name: "x-amz-date", value: stamp)]
    if account.isStorage { missing.append(("x-amz-content-sha256", payloadHash)) }
    if let token = account.sessionToken { missing.append(("x-amz-security-token", token.revealed)) }
    return missing.filter { !fields.contains($0.name) }
  }

  /// What others on the way may not change: the host, what the body is, and all of Amazon's own.
  private var signed: [(name: String, value: String)] {
    var values: [String: [String]] = [:]
    for field in fields where Self.isSigned(field.name.lowercased()) {
      values[field.name.lowercased(), default: []].append(Self.trimmed(field.value))
    }
    for field in missing { values[field.name] = [field.value] }
    if values["host"] == nil { values["host"] = [authority] }
    return values.map { ($0.key, $0.value.joined(separator: ",")) }.sorted { $0.0 < $1.0 }
  }

  private static func isSigned(_ name: String) -> Bool {
    ["host", "content-type", "content-md5", "date", "range"].contains(name) || name.hasPrefix("x-amz-")
  }

  /// Without spaces around it, and with single ones inside.
  private static func trimmed(_ value: String) -> String {
    value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
  }

  // MARK: What is signed

  private func textToSign(_ signed: [(name: String, value: String)]) -> String {
    let lines = signed.map { "\($0.name):\($0.value)\n" }.joined()
    let names = signed.map(\.name).joined(separator: ";")
    let request = [method, canonicalPath, canonicalQuery, lines, names, payloadHash].joined(separator: "\n")
    return ["AWS4-HMAC-SHA256", stamp, scope, Hexadecimal.text(SHA256.of(Array(request.utf8)))]
      .joined(separator: "\n")
  }

  private var scope: String { "\(stamp.prefix(8))/\(account.region)/\(account.service)/aws4_request" }

  private var key: [UInt8] {
    let secret = Array("AWS4\(account.secretKey.revealed)".utf8)
    return [String(stamp.prefix(8)), account.region, account.service, "aws4_request"].reduce(secret) {
      HMAC.sha256(Array($1.utf8), key: $0)
    }
  }

  /// A caller who knows it may say it.
  private var payloadHash: String {
    if let own = fields.first("X-Amz-Content-Sha256") { return own }
    return payload.map { Hexadecimal.text(SHA256.of($0)) } ?? "UNSIGNED-PAYLOAD"
  }

  private var parts: (path: Substring.UTF8View, query: Substring.UTF8View) {
    let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.utf8.endIndex
    return (target[..<end].utf8, target[end...].utf8.dropFirst())
  }

  /// S3 takes a path as it is; the others take away slashes that stand in a row and escape what is escaped once more.
  private var canonicalPath: String {
    let slash = UInt8(ascii: "/")
    let path = parts.path
    var segments = path.split(separator: slash, omittingEmptySubsequences: false).map(Array.init)
    if !account.isStorage {
      segments = [[]] + segments.filter { !$0.isEmpty }
      if path.last == slash { segments.append([]) }
    }
    let escaped = segments.map { segment in
      PercentCoding.escaped(account.isStorage ? PercentCoding.decode(segment) : segment)
    }
    let text = escaped.joined(separator: "/")
    return text.isEmpty ? "/" : text
  }

  /// By name and then by value, each escaped in the one way.
  private var canonicalQuery: String {
    let pairs = parts.query.split(separator: UInt8(ascii: "&")).map { pair in
      let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      return [pair[..<end], pair[end...].dropFirst()].map {
        PercentCoding.escaped(PercentCoding.decode($0, plusIsSpace: true))
      }
    }
    return pairs.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }.map { "\($0[0])=\($0[1])" }.joined(separator: "&")
  }

  /// `20130524T000000Z`, for years 0 to 9999.
  static func stamp(_ seconds: Int64) -> String {
    let date = CivilDate(secondsSince1970: seconds)
    let day = [date.month, date.day].map { HTTPDate.padded($0) }.joined()
    let time = [date.hour, date.minute, date.second].map { HTTPDate.padded($0) }.joined()
    return "\(HTTPDate.padded(date.year, to: 4))\(day)T\(time)Z"
  }

  /// What `stamp` writes.
  static func isStamp(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else {
      return false
    }
    return (bytes[..<8] + bytes[9..<15]).allSatisfy(\.isASCIIDigit)
  }
}

extension AWSAccount {
  /// Each a name that fits into the signature's scope, which is divided by slashes, commas and spaces.
  var isUsable: Bool {
    let isScoped = [accessKey, region, service].allSatisfy { text in
      !text.isEmpty && text.utf8.count <= 128
        && text.utf8.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter || "-._".utf8.contains($0) }
    }
    let secrets = [secretKey, sessionToken].compactMap { $0?.revealed.utf8 }
    return isScoped && secrets.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
  }

  var parts: [String] {
    ["awsSigV4", accessKey, secretKey.revealed, sessionToken?.revealed ?? "", region, service]
  }
}
