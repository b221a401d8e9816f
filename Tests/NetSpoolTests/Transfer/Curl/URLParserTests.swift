import Testing

@testable import NetSpool

/// What a URL means must not depend on the version of libcurl.
struct URLParserTests {
  /// RFC 3986 section 5.4, but for the schemes.
  @Test(arguments: [
    ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
    ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"),
    ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"),
    ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
    ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
    (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
    ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
    ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("?", "/b/c/d;p?"),
    ("x y?z z", "/b/c/x%20y?z%20z"),
  ]) func `a reference is resolved as RFC 3986 has it`(reference: String, target: String) throws {
    let url = try URLParser.parse(reference, relativeTo: "http://a/b/c/d;p?q")
    #expect(url.pieces.text == "http://a" + target)
  }

  /// Whoever is given the text of a URL can read it.
  @Test func `eight KiB are a URL's as it is sent, not as it was written`() throws {
    let room = URLText.bytesMax - "http://a/".utf8.count
    let longest = try URLParser.parse("http://a/" + String(repeating: " ", count: room / 3)).pieces
    #expect(try URLParser.parse(longest.text).pieces == longest)
    let long = String(repeating: "b", count: room - 10)
    for (text, base) in [
      ("http://a/" + String(repeating: " ", count: room / 3 + 1), nil), (long, "http://a/0123456789/"),
    ] {
      #expect(failure { _ = try URLParser.parse(text, relativeTo: base) }?.reason == "longer than 8 KiB")
    }
  }

  @Test(arguments: [
    ("//g", "http://g/"), ("//g:80?x", "http://g/?x"), ("https://h/../i", "https://h/i"),
    ("HTTP:/h", "http://h/"), ("http:///h/i", "http://h/i"),
  ]) func `a reference may lead to another host`(reference: String, url: String) throws {
    #expect(try URLParser.parse(reference, relativeTo: "http://a/b").pieces.text == url)
  }

  @Test(arguments: [
    ("http://a/b?", "http://a/b?"), ("http://a?", "http://a/?"), ("http://a/%2e%2E/b", "http://a/b"),
    ("http://a/b/.%2e/%2E/c?%2e/..", "http://a/c?%2e/.."),
    ("http://a/%2e%2ex/%7e%2f", "http://a/%2e%2ex/%7e%2f"), ("http://a/\"<>\\^`{|}", "http://a/\"<>\\^`{|}"),
    ("http://a//../b/.", "http://a/b/"), ("http://a/ü?ö", "http://a/%C3%BC?%C3%B6"),
    ("http://a:/", "http://a/"), ("http://a:00081/", "http://a:81/"), ("http://A%42.C/", "http://ab.c/"),
    ("http://1.2/", "http://1.0.0.2/"), ("http://017.0x1.256/", "http://15.1.1.0/"),
    ("http://4294967295/", "http://255.255.255.255/"), ("http://[0:0::1]:80/", "http://[::1]/"),
    ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:1.2.3.4]/"),
    ("http://[FE80::1%25Eth0]/", "http://[fe80::1%25Eth0]/"),
    ("http://[fe80::1%eth0]/", "http://[fe80::1%25eth0]/"),
    ("http://[fe80::1%fifteen-letters]/", "http://[fe80::1%25fifteen-letters]/"),
    ("http://a.b_c~d./", "http://a.b_c~d./"),
    ("http://B\u{DC}cher.Example/", "http://xn--bcher-kva.example/"),
    ("http://b%C3%BCcher.example:8080/\u{FC}", "http://xn--bcher-kva.example:8080/%C3%BC"),
    ("http://fa\u{DF}.de/", "http://xn--fa-hia.de/"), ("http://\u{2615}.de/", "http://xn--53h.de/"),
    ("http://\u{65E5}\u{672C}\u{8A9E}\u{3002}jp/", "http://xn--wgv71a119e.jp/"),
    ("http://\u{FF11}\u{FF12}\u{FF17}.0.0.1/", "http://127.0.0.1/"),
    ("http://\u{430}pple.com/", "http://xn--pple-43d.com/"), ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://%31.2.3.4/", "http://1.2.3.4/"), ("http://9front/", "http://9front/"),
    ("http://a.0xg/", "http://a.0xg/"), ("http://0x.a/", "http://0x.a/"),
  ]) func `a single spelling is made of many`(text: String, canonical: String) throws {
    let url = try URLParser.parse(text)
    #expect(url.pieces.text == canonical)
    #expect(try URLParser.parse(canonical).pieces == url.pieces)
  }

  @Test(
    arguments: [
      ("http://u:p@a/", "u", "p"), ("http://u@a/", "u", nil), ("http://@a/", "", nil),
      ("http://u%40x:p%3Aq@a/", "u@x", "p:q"), ("http://u:p:q@a/", "u", "p:q"), ("http://a/u:p@b", nil, nil),
    ] as [(String, String?, String?)])
  func `a user name is taken aside`(text: String, user: String?, password: String?) throws {
    let url = try URLParser.parse(text)
    #expect(url.user == user && url.password == password && url.pieces.host == "a")
  }

  @Test(arguments: [
    "", "a", "/a", "//a", "http", "http:", "http:a", "http:////a", "http://", "http:///", "http://?a",
    "http://u@/", "ftp://a/", "mailto:a@b", "a:b", "http://a:b/", "http://a:65536/", "http://a:-1/",
    "http://a:1:2/", "http://u@v@a/", "http://a b/", "http://a%2Fb/", "http://a%00/", "http://a%/",
    "http://a\\b/", "http://a+b/", "http://256.0.0.1/", "http://1.2.3.4.5/", "http://08/",
    "http://4294967296/", "http://[::1/", "http://[::1]x/", "http://[fe80::1%25sixteen-letters-]/",
    "http://[fe80::1%25]/", "http://[::1]80/", "http://[1.2.3.4]/", "http://[]/", "http://::1/",
    "http://u%0a@a/", "http://a/\u{7F}",
    "http://a/" + String(repeating: "b", count: 8184),
    // An escape hides a number from libcurl's own writing out, and others are no address at all.
    "http://%39/", "http://%30x7f.1/", "http://a.0x%37f/", "http://256.1.1.1/", "http://%30177.0.0.1/",
  ]) func `what is no URL says why`(text: String) {
    let failure = #expect(throws: NetworkError.self) { try URLParser.parse(text) }
    #expect(failure?.code == .invalidURL && failure?.reason?.isEmpty == false)
  }
}
