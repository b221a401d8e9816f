@testable import NetSpool

/// The command for a shell: read by a shell's rules and by curl's, it is the request again.
///
/// Input: a byte of choices, a line of method, a line of URL, header lines, an empty line, the body.
enum CurlTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choices = input.byte()
    let method = input.text()
    var request = NetworkRequest(url: "http://host.test/" + input.text(), method: Method(method))
    var secrets = 0
    while !input.isAtEnd {
      let line = input.line()
      guard !line.isEmpty, let colon = line.firstIndex(of: 0x3A) else { break }
      let name = String(decoding: line[..<colon], as: UTF8.self)
      let value = String(decoding: FieldNames.trimmed(line[(colon + 1)...]), as: UTF8.self)
      request.headers.append(name: name, value: value)
      if Redaction.standard.isSecret(header: name) { secrets += 1 }
    }
    let body = Array(input.rest)
    setBody(&request, body, choices)
    guard !request.url.utf8.contains(where: \.isControl) else { return }
    guard (try? request.makeReady()) != nil else {
      require(
        request.curlCommand(revealingSecrets: false).hasPrefix("# "), "what cannot be sent is a comment")
      return
    }
    checkMasked(request, secrets)
    checkRevealed(request, body, choices)
  }

  private static let secret = NetworkCredentials(
    scheme: .basic(user: "me", password: Secret("s3cr3t-w0rd"), preemptive: true))

  private static func setBody(_ request: inout NetworkRequest, _ body: [UInt8], _ choices: UInt8) {
    switch choices & 3 {
    case 0: break
    case 1: request.extra.body = .bytes(body, contentType: choices & 4 == 0 ? nil : "text/plain")
    case 2: request.extra.body = .json(body)
    default:
      request.extra.body = .form(NetworkRequest.Parameters([(String(decoding: body, as: UTF8.self), "1")]))
    }
    if choices & 8 != 0 { request.extra.credentials = secret }
  }

  private static func checkMasked(_ request: NetworkRequest, _ secrets: Int) {
    let text = request.curlCommand(revealingSecrets: false)
    require(!text.holds("s3cr3t-w0rd") || request.url.holds("s3cr3t"), "the password is not shown")
    require(ShellReader.words(of: text) != nil, "what is shown is a command: \(text)")
  }

  private static func checkRevealed(_ request: NetworkRequest, _ body: [UInt8], _ choices: UInt8) {
    let text = request.curlCommand(revealingSecrets: true)
    guard let commands = ShellReader.words(of: text), let words = commands.last else {
      broken("what is shown is a command: \(text)")
    }
    require(words.first == "curl" && commands.count <= 3, "it runs curl and what prints: \(text)")
    let curl = CurlWords(words)
    require(curl.isUnderstood, "curl understands it: \(text)")
    let sent = (try? URLText.absolute(request.url)) ?? request.url
    require(curl.urls == [sent], "it goes to the same URL: \(text)")
    require(curl.method == request.method.name, "with the same method: \(text)")
    for field in request.headers {
      let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
      require(curl.headers.contains(line), "with the same fields: \(text)")
    }
    checkBody(request, body, choices, curl, commands, text)
  }

  private static func checkBody(
    _ request: NetworkRequest, _ body: [UInt8], _ choices: UInt8, _ curl: CurlWords, _ commands: [[String]],
    _ text: String
  ) {
    guard request.method != .head, choices & 3 == 1 || choices & 3 == 2 else { return }
    let sent = curl.data == "@-" && !curl.isRaw ? ShellReader.printed(by: commands.dropLast()) : curl.bytes
    require(sent == body, "with the same body: \(text)")
  }
}
