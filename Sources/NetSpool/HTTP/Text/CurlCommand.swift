/// A request as a command for a shell: paste it, and curl sends the same request.
///
/// Every word that came from the request is single-quoted, so nothing in it can be run. Secrets are masked
/// unless asked for. Bytes that are no text, and text too long for an argument, are piped into curl.
struct CurlCommand: Sendable {
  var method: Method
  var url: String
  var headers = Headers()
  /// Masked whatever their names.
  var secretHeaders = Headers()
  var body = NetworkRequest.Body.none
  /// For a body with an encoder of its own.
  var parameters = NetworkRequest.Parameters([])
  /// How the request authenticates, other than by a header field of its own.
  var credential: NetworkCredentials.Scheme?
  /// The client certificate.
  var certificate: ClientCertificate?
  /// More of curl's own words, without secrets: `["--insecure"]`, `["--max-time", "5"]`.
  var options: [String] = []
  /// Fields that libcurl adds by itself and this request does without: `["Accept"]`.
  var suppressedHeaders: [String] = []
  var redaction = Redaction.standard

  /// The command, one line unless the request itself holds newlines. `curl` is its first word, except when
  /// something is piped into it.
  func text(revealingSecrets: Bool = false) -> String {
    let content = content(revealingSecrets ? nil : redaction)
    var words = ["curl", "--proto", "=http,https"]
    words += methodWords(implied: content.impliedMethod)
    words += headerWords(content, revealingSecrets ? nil : redaction)
    words += credentialWords(revealingSecrets)
    words += certificateWords(revealingSecrets)
    words += options.map { ShellWord.quote($0) }
    if content.needsGlobOff || url.utf8.contains(where: { "[]{}".utf8.contains($0) }) {
      words.append("--globoff")
    }
    words += content.words
    let shown = revealingSecrets ? url : redaction.url(url)
    if shown.hasPrefix("-") { words.append("--url") }
    words.append(ShellWord.quote(shown, always: true))
    let command = words.joined(separator: " ")
    return content.input.map { "\($0) | \(command)" } ?? command
  }

  private func methodWords(implied: String) -> [String] {
    if method == .head { return ["--head"] }
    return method.name == implied ? [] : ["-X", ShellWord.quote(method.name)]
  }

  private func headerWords(_ content: CurlContent, _ redaction: Redaction?) -> [String] {
    var lines: [String] = []
    for field in headers {
      let ownsField = content.ownsContentType && field.isNamed("Content-Type")
      // curl appends its own boundary to the type.
      let value = ownsField ? Multipart.withoutBoundary(field.value) : field.value
      if ownsField, value == "multipart/form-data" { continue }
      lines.append(line(field.name, value, redaction))
    }
    for field in secretHeaders {
      lines.append("\(field.name): \(redaction == nil ? field.value : Redaction.mask)")
    }
    lines += contentTypeLine(content)
    lines += suppressedHeaders.map { "\($0):" }
    if !headers.contains("User-Agent") { lines.append("User-Agent:") }
    return lines.flatMap { ["-H", ShellWord.quote($0, always: true)] }
  }

  /// curl takes `Name;` for a field without a value, and `Name:` for one that must not be sent.
  private func line(_ name: String, _ value: String, _ redaction: Redaction?) -> String {
    if value.isEmpty { return "\(name);" }
    return "\(name): \(redaction?.header(name: name, value: value) ?? value)"
  }

  /// The type the body asks for; for data without one, the word that keeps curl from claiming a form.
  private func contentTypeLine(_ content: CurlContent) -> [String] {
    guard !content.ownsContentType, !headers.contains("Content-Type") else { return [] }
    if content.contentType == content.impliedType { return [] }
    return [content.contentType.map { "Content-Type: \($0)" } ?? "Content-Type:"]
  }

  private func certificateWords(_ revealingSecrets: Bool) -> [String] {
    guard let certificate else { return [] }
    let shown = certificate.password.map { ":" + (revealingSecrets ? $0.revealed : Redaction.mask) } ?? ""
    let key = certificate.key.map { ["--key", ShellWord.quote($0, always: true)] } ?? []
    return ["--cert", ShellWord.quote(certificate.path + shown, always: true)] + key
  }

  private func credentialWords(_ revealingSecrets: Bool) -> [String] {
    func user(_ user: String, _ password: Secret) -> [String] {
      let shown = revealingSecrets ? password.revealed : Redaction.mask
      return ["--user", ShellWord.quote("\(user):\(shown)", always: true)]
    }
    switch credential {
    case nil, .fields, .provider: return []
    case .basic(let name, let password, _), .password(let name, let password):
      return ["--basic"] + user(name, password)
    case .digest(let name, let password): return ["--digest"] + user(name, password)
    case .ntlm(let name, let password): return ["--ntlm"] + user(name, password)
    case .aws(let account):
      let scheme = ["--aws-sigv4", ShellWord.quote("aws:amz:\(account.region):\(account.service)")]
      return scheme + user(account.accessKey, account.secretKey)
    case .bearer(let token):
      let shown = revealingSecrets ? token.revealed : Redaction.mask
      return ["-H", ShellWord.quote("Authorization: Bearer \(shown)", always: true)]
    }
  }
}

/// Words of POSIX sh.
enum ShellWord {
  /// Longest text put into one word, in bytes: Linux takes no argument above 128 KiB.
  static let bytesMax = 100_000

  /// The word as sh reads it back byte for byte. Newlines may stand between single quotes. A NUL, which no
  /// argument can hold, becomes U+FFFD.
  static func quote(_ text: String, always: Bool = false) -> String {
    if !always, !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    var word: [UInt8] = [UInt8(ascii: "'")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "'"): word += "'\\''".utf8
      case 0: word += "\u{FFFD}".utf8
      default: word.append(byte)
      }
    }
    word.append(UInt8(ascii: "'"))
    return String(decoding: word, as: UTF8.self)
  }

  /// A command that prints these bytes. `printf` is built into the shell and so has no argument limit.
  static func printing(_ bytes: [UInt8]) -> String {
    if let text = text(bytes) { return "printf %s \(quote(text, always: true))" }
    return "printf %s '\(Base64.encode(bytes))' | base64 -d"
  }

  /// The bytes as text, if they are UTF-8 and hold no control bytes but tabs and line ends: others would
  /// act on the terminal that shows them.
  static func text(_ bytes: [UInt8]) -> String? {
    let isText = bytes.allSatisfy { !$0.isControl || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    return isText ? String(validating: bytes, as: UTF8.self) : nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "-_./:,@+".utf8.contains(byte)
  }
}
