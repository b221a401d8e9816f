import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Requests as curl commands")
struct CurlCommandTests {
  private static let agent = "-H 'User-Agent: t/1'"

  private static func command(
    _ method: Method, _ url: String = "https://h.org/", body: NetworkRequest.Body = .none
  ) -> CurlCommand {
    var command = CurlCommand(method: method, url: url)
    command.headers.append(name: "User-Agent", value: "t/1")
    command.body = body
    return command
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var method = Method.post
    var url = "https://h.org/"
    var body = NetworkRequest.Body.none
    var words: String
    var testDescription: String { words }
  }

  @Test(arguments: [
    Row(method: .get, words: "\(agent) 'https://h.org/'"),
    Row(method: .head, words: "--head \(agent) 'https://h.org/'"),
    Row(method: .delete, words: "-X DELETE \(agent) 'https://h.org/'"),
    Row(method: Method("a'b"), words: "-X 'a'\\''b' \(agent) 'https://h.org/'"),
    Row(words: "\(agent) -H 'Content-Type:' --data-binary '' 'https://h.org/'"),
    Row(method: .put, words: "-X PUT \(agent) -H 'Content-Type:' --data-binary '' 'https://h.org/'"),
    Row(body: .form(["a": "it's"]), words: "\(agent) --data-binary 'a=it%27s' 'https://h.org/'"),
    Row(
      body: .json(Array("{\"a\":\n\"it's\"}".utf8)),
      words:
        "\(agent) -H 'Content-Type: application/json' --data-binary '{\"a\":\n\"it'\\''s\"}' 'https://h.org/'"
    ),
    Row(
      method: .patch, body: .bytes(Array("@x".utf8), contentType: nil),
      words: "-X PATCH \(agent) -H 'Content-Type:' --data-raw '@x' 'https://h.org/'"),
    Row(
      method: .put, url: "https://h.org/f", body: .file("a b", contentType: "x/y"),
      words: "\(agent) -H 'Content-Type: x/y' --globoff -T 'a b' 'https://h.org/f'"),
    Row(
      method: .put, body: .file("-", contentType: nil),
      words: "-X PUT \(agent) -H 'Content-Type:' --data-binary '@./-' 'https://h.org/'"),
    Row(
      method: .get, url: "https://h.org/[1]", words: "\(agent) --globoff 'https://h.org/[1]'"),
    Row(method: .get, url: "-o", words: "\(agent) --url '-o'"),
  ])
  func `a request has one exact command`(row: Row) {
    let command = Self.command(row.method, row.url, body: row.body)
    #expect(command.text() == "curl --proto =http,https \(row.words)")
    #expect(command.text(revealingSecrets: true) == command.text())
  }

  @Test func `header fields, credentials and options have their words`() {
    var command = CurlCommand(method: .get, url: "https://h.org/?token=t0p")
    command.headers.append(name: "X-Empty", value: "")
    command.headers.append(name: "Cookie", value: "c=t0p")
    command.credential = .digest(user: "me", password: Secret("it's"))
    command.options = ["--insecure", "--max-time", "5"]
    command.suppressedHeaders = ["Accept"]
    #expect(
      command.text() == """
        curl --proto =http,https -H 'X-Empty;' -H 'Cookie: •••' -H 'Accept:' -H 'User-Agent:' \
        --digest --user 'me:•••' --insecure --max-time 5 'https://h.org/?token=•••'
        """)
    #expect(
      command.text(revealingSecrets: true) == """
        curl --proto =http,https -H 'X-Empty;' -H 'Cookie: c=t0p' -H 'Accept:' -H 'User-Agent:' \
        --digest --user 'me:it'\\''s' --insecure --max-time 5 'https://h.org/?token=t0p'
        """)
  }

  @Test func `parts are -F words, quoted as curl reads them, and curl writes the Content-Type`() {
    var multipart = Multipart()
    multipart.addData(Array("@;\" x".utf8), forKey: "text")
    multipart.addData(Array("a;\"\\".utf8), forKey: "typed", mimeType: "text/plain", fileName: "f;\"\\.txt")
    multipart.addFile("dir/a,b.png", forKey: "file", mimeType: "image/png")
    multipart.parts.append(Multipart.Part(name: "field", content: .file("-")))
    var command = Self.command(.post, body: .multipart(multipart))
    command.headers.append(name: "content-type", value: multipart.contentType)
    #expect(
      command.text() == """
        curl --proto =http,https \(Self.agent) --form-string 'text=@;" x' \
        -F 'typed="a;\\"\\\\";type=text/plain;filename="f;\\"\\\\.txt"' \
        -F 'file=@"dir/a,b.png";type=image/png;filename="a,b.png"' -F 'field=<"./-"' 'https://h.org/'
        """)
  }

  @Test(arguments: ["text", "text/", "a/b/c", "text/plain; charset=utf-8", "te xt/plain", ""])
  func `parts of a type that curl would read otherwise are its input as they are sent`(_ type: String) {
    var multipart = Multipart()
    multipart.addData(Array("value".utf8), forKey: "name", mimeType: type)
    let text = Self.command(.post, body: .multipart(multipart)).text()
    #expect(!text.contains(" -F ") && text.hasPrefix("{ printf "), "\(text)")
    #expect(text.contains("Content-Type: \(type)\r\n"), "\(text)")
  }

  @Test func `hostile strings reach curl's argv unchanged, and nothing of them is run (seed 20)`() throws {
    var numbers = SplitMix64(seed: 20)
    var commands: [String] = []
    var expected: [[String]] = []
    for _ in 0..<400 {
      let method = "M" + Self.hostileText(&numbers)
      let url = "u" + Self.hostileText(&numbers)
      let value = "v" + Self.hostileText(&numbers, lineEnds: false)
      let body = "b" + Self.hostileText(&numbers)
      var command = Self.command(Method(method), url, body: .bytes(Array(body.utf8), contentType: nil))
      command.headers.append(name: "X-H", value: value)
      command.options = [body]
      commands.append(command.text(revealingSecrets: true))
      let glob = url.contains { "[]{}".contains($0) } ? ["--globoff"] : []
      expected.append(
        ["--proto", "=http,https", "-X", method, "-H", "User-Agent: t/1", "-H", "X-H: \(value)"]
          + ["-H", "Content-Type:", body] + glob + ["--data-binary", body, url])
    }
    let seen = try Self.words(ofCurlIn: commands)
    // Then: bytes, because strings would call two spellings of one character equal
    #expect(seen.count == expected.count)
    for (words, wanted) in zip(seen, expected) {
      #expect(words.map { Array($0.utf8) } == wanted.map { Array($0.utf8) })
    }
  }

  private static let hostilePieces = [
    "'", "\"", "\\", "$(echo x)", "`echo x`", ";", "|", "&", "\n", "\t", " ", "!", "*", "?", "~", "#",
    "$HOME", "<", ">", "-o", "é", "Ё", "\u{85}", "😀", "\u{301}", "{a,b}", "[1-3]", "%s", "%", "'\\''", "=",
    "@", "\\n", "${IFS}", "\u{FFFD}",
  ]

  private static func hostileText(_ numbers: inout SplitMix64, lineEnds: Bool = true) -> String {
    (0..<Int.random(in: 0...8, using: &numbers)).map { _ in
      let piece = hostilePieces.randomElement(using: &numbers)!
      return piece == "\n" && !lineEnds ? " " : piece
    }.joined()
  }

  /// The words of commands that `sh` runs with a `curl` that prints them. Should their quoting fail, they find nothing to run.
  private static func words(ofCurlIn commands: [String]) throws -> [[String]] {
    let fake = "PATH=/nonexistent\ncurl() { printf '%s\\0' \"$#\" \"$@\"; }\n"
    let output = try runShell(fake + commands.joined(separator: "\n") + "\n")
    var fields = output.split(separator: 0, omittingEmptySubsequences: false)[...]
    var words: [[String]] = []
    while let count = fields.popFirst().flatMap({ Int(String(decoding: $0, as: UTF8.self)) }) {
      words.append(fields.prefix(count).map { String(decoding: $0, as: UTF8.self) })
      fields = fields.dropFirst(count)
    }
    return words
  }
}
