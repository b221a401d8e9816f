import Testing

@testable import NetSpool
@testable import TestSupport

/// Which requests share an entry (RFC 9111 section 2, RFC 3986 section 6.2.2), and whose.
struct CacheKeyEncodingTests {
  private func url(_ path: String, host: String = "a.example", scheme: String = "https", port: Int = 443)
    -> URLPieces
  {
    URLPieces(scheme: scheme, host: host, port: port, pathAndQuery: path)
  }

  private func key(_ path: String, _ lines: [String] = [], scope: AnswerScope = .anonymous) -> [UInt8] {
    CacheKey.primary(scope: scope, url: url(path), headers: fields(lines))
  }

  static let equalPaths: [(String, String)] = [
    ("/a%7eb", "/a~b"), ("/%61", "/a"), ("/%c3%a9", "/%C3%A9"), ("/a/%2e/b", "/a/b"), ("/a/./b", "/a/b"),
    ("/a/../b", "/b"), ("/a/%2E%2e/b", "/b"), ("/..", "/"), ("/a/..", "/"), ("/a/b/..", "/a/"),
    ("/a/.", "/a/"),
    ("", "/"), ("/?%7E", "/?~"), ("/a/../../..//b", "//b"),
  ]
  static let differentPaths: [(String, String)] = [
    ("/a", "/A"), ("/a", "/a/"), ("/a//b", "/a/b"), ("/a%2fb", "/a/b"), ("/a?x=1&y=2", "/a?y=2&x=1"),
    ("/a", "/a?"),
    ("/a?b", "/a%3Fb"), ("/a?x=%26", "/a?x=&"), ("/a?x=/../b", "/b"), ("/a?x=/./b", "/a?x=/b"),
    ("/a+b", "/a%20b"),
    ("/a%", "/a%25"), ("/%zz", "/%25zz"), ("/a;b", "/a"), ("/.a", "/a"), ("/...", "/.."), ("/a..", "/a"),
    ("/%00", "/"), ("/a%0", "/a%00"), ("/%%32e", "/%%32%65"),
  ]

  @Test(arguments: equalPaths) func `are one`(_ first: String, _ second: String) {
    #expect(key(first) == key(second))
  }

  @Test(arguments: differentPaths) func `are two`(_ first: String, _ second: String) {
    #expect(key(first) != key(second))
  }

  @Test func `origins differ`() {
    let keys = [
      url("/"), url("/", host: "b.example"), url("/", scheme: "http"), url("/", port: 8443),
      url("/", scheme: "http", port: 80),
    ].map { CacheKey.primary(scope: .anonymous, url: $0, headers: Headers()) }
    #expect(Set(keys).count == 5)
    #expect(
      CacheKey.primary(
        scope: .anonymous, url: url("/", host: "A.Example", scheme: "HTTPS"), headers: Headers())
        == keys[0])
  }

  /// Fields that a front end may route by are part of the key: they poison nobody else's answer.
  @Test(arguments: [
    "Host: b", "X-Forwarded-Host: b", "Forwarded: host=b", "X-Original-URL: /b", "x-rewrite-url: /b",
    "X-Forwarded-Proto: http", "X-Host: b",
  ])
  func `routing fields separate`(_ line: String) {
    #expect(key("/", [line]) != key("/"))
    #expect(key("/", [line]) == key("/", [line, "Accept: x", "X-Other: y"]))
    #expect(key("/", [line + "2"]) != key("/", [line]))
  }

  @Test func `a key begins with its scope and the URL`() {
    let primary = key("/a?b", ["Host: x"])
    let index = VariantIndex(fields: VaryFields(names: ["c"]), generation: 0)
    for bytes in [key("/a?b"), primary, CacheKey.variant(index, of: primary, headers: Headers())] {
      #expect(bytes.starts(with: CacheKey.prefix(scope: .anonymous) + Array("https://a.example/a?b".utf8)))
    }
    let own = CacheKey.primary(scope: .anonymous, custom: "GET\u{0}https://a.example/").key
    #expect(own != CacheKey.primary(scope: .anonymous, custom: "GET%00https://a.example/").key)
  }

  @Test func `scopes separate`() {
    let scopes: [AnswerScope] = [
      .anonymous, .shared, .named("a"), .named("b"), .named("a\u{0}"), .named("a%00"), .named(""),
      .derived(from: fields("Authorization: x")), .derived(from: fields("Authorization: y")),
      .derived(from: fields("Cookie: x")), .derived(from: fields("X-Api-Key: x")),
      .derived(from: fields("X-User-Id: x")), .derived(from: fields("X-CSRFToken: x")),
      .derived(from: fields("Authorization: x", "Cookie: y")),
      .derived(from: Headers(), account: 1), .derived(from: Headers(), account: 2),
      .derived(from: fields("Authorization: x"), account: 1),
      .derived(from: fields("Authorization: x"), account: 2),
      .anonymous.within(AnswerScope.Reach(text: "00", lasting: ""), inNamespace: "default"),
      .anonymous.within(.standard, inNamespace: "default"),
      .derived(from: fields("X-Mine: x"), meaning: FieldMeaning(secret: ["x-mine"])),
    ]
    #expect(Set(scopes.map { key("/", scope: $0) }).count == scopes.count)
    #expect(scopes.allSatisfy { !$0.text.utf8.contains(0) })
    #expect(AnswerScope.derived(from: fields("Accept: x", "User-Agent: y")) == .anonymous)
    #expect(AnswerScope.derived(from: fields("X-Request-Id: 1", "If-Match: x", "X-Trace: y")) == .anonymous)
    #expect(AnswerScope.derived(from: fields("authorization: x", "Accept: z")) == scopes[7])
    #expect(!scopes[7].text.contains("x"))
  }

  /// RFC 4231 test case 2, whose one part is hashed here with its length in front: so both halves by hand.
  @Test func `the hash is an HMAC`() {
    let key = Array("Jefe".utf8)
    let part = Array("what do ya want for nothing?".utf8)
    func sha(_ bytes: [UInt8]) -> [UInt8] {
      var digest = SHA256()
      digest.update(bytes.rawBytes)
      return digest.finish()
    }
    func pad(_ byte: UInt8) -> [UInt8] { (key + [UInt8](repeating: 0, count: 60)).map { $0 ^ byte } }
    let inner = sha(pad(0x36) + [UInt8(part.count), 0, 0, 0, 0, 0, 0, 0] + part)
    #expect(ProcessSecret.hash([part], key: key) == sha(pad(0x5C) + inner))
    #expect(ProcessSecret.hash([[1], [2]]) != ProcessSecret.hash([[1, 2]]))
    #expect(ProcessSecret.hash([[1]]) == ProcessSecret.hash([[1]]))
  }

  @Test func `a URL is found in every key that is about it, and in no other`() throws {
    let pieces = try URLParser.parse("http://h/a?b").pieces
    for scope in [
      AnswerScope.anonymous, .shared, .named("n"), .named("n").within(.standard, inNamespace: "part"),
    ] {
      for headers in [Headers(), fields("X-Forwarded-Host: x")] {
        let primary = CacheKey.primary(scope: scope, url: pieces, headers: headers)
        let index = VariantIndex(fields: VaryFields(names: ["foo"]))
        for key in [primary, CacheKey.variant(index, of: primary, headers: headers)] {
          for prefix in ["http://h/a?b", "http://h/", ""] { #expect(concerns(prefix, key)) }
          for other in ["http://h/a?bc", "http://h/b", "https://h/"] { #expect(!concerns(other, key)) }
        }
      }
    }
    let custom = CacheKey.primary(scope: .anonymous, custom: "http://h/a?b").key
    for key in [custom, [], [1], Array("1a\u{0}GET".utf8)] { #expect(!concerns("http://h/a?b", key)) }
  }

  private func concerns(_ prefix: String, _ key: [UInt8]) -> Bool {
    CacheKey.concerns(prefix: Array(prefix.utf8), in: key.rawBytes)
  }
}
