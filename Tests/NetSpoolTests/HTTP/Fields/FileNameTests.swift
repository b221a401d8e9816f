import Testing

@testable import NetSpool
@testable import TestSupport

/// One clean base name from hostile text.
struct FileNameTests {
  static let hostile: [(String, String)] = [
    ("report.pdf", "report.pdf"),
    ("with space.txt", "with space.txt"),
    ("na\u{EF}ve.txt", "na\u{EF}ve.txt"),
    ("a.tar.gz", "a.tar.gz"),
    ("", "download"),
    (".", "download"),
    ("..", "download"),
    ("...", "download"),
    ("/", "download"),
    ("//", "download"),
    ("../", "download"),
    ("../..", "download"),
    ("../../etc/passwd", "passwd"),
    ("/etc/passwd", "passwd"),
    ("//etc//passwd", "passwd"),
    ("..\\..\\windows\\system.ini", "system.ini"),
    ("C:\\temp\\x.exe", "x.exe"),
    ("a/b\\c/d", "d"),
    ("a/", "a"),
    ("a/..", "a"),
    ("a/.", "a"),
    ("....//....//etc/shadow", "shadow"),
    (".bashrc", "bashrc"),
    ("..bashrc", "bashrc"),
    ("/.ssh/authorized_keys", "authorized_keys"),
    (".ssh/.config", "config"),
    ("-rf", "rf"),
    ("--help", "help"),
    ("-", "download"),
    (".-.x", "x"),
    ("- .x", "x"),
    ("~", "download"),
    ("~root", "root"),
    ("~/x", "x"),
    ("x\u{0}.png", "x.png"),
    ("\u{0}", "download"),
    ("x\u{0}/../y", "y"),
    (".\u{0}.", "download"),
    ("\u{0}.bashrc", "bashrc"),
    ("a\nb", "ab"),
    ("a\r\nb", "ab"),
    ("a\tb", "ab"),
    ("\u{1B}[31mred", "[31mred"),
    ("a\u{7F}b", "ab"),
    ("a\u{85}b", "ab"),
    ("photo\u{202E}gpj.exe", "photogpj.exe"),
    ("\u{202A}\u{202B}\u{202C}\u{202D}x", "x"),
    ("\u{2066}\u{2067}\u{2068}\u{2069}x", "x"),
    ("\u{200E}\u{200F}\u{61C}x", "x"),
    ("\u{202E}.bashrc", "bashrc"),
    ("\u{FEFF}.hidden", "hidden"),
    ("a\u{200B}b\u{2060}c\u{AD}d", "abcd"),
    ("a\u{2028}b\u{2029}c", "abc"),
    ("\u{E0041}tag", "tag"),
    ("  lead", "lead"),
    ("trail  ", "trail"),
    ("trail. . .", "trail"),
    ("\u{A0}nbsp\u{3000}", "nbsp"),
    ("$(reboot)", "$(reboot)"),
    ("a;b|c&d", "a;b|c&d"),
    ("%2e%2e%2fx", "%2e%2e%2fx"),
    ("\u{FF0F}etc\u{2215}x", "\u{FF0F}etc\u{2215}x"),
    ("\u{1F468}\u{200D}\u{1F469}.png", "\u{1F468}\u{200D}\u{1F469}.png"),
    ("file:///x", "x"),
    ("x?y=z", "x?y=z"),
  ]

  @Test(arguments: hostile)
  func `a hostile name becomes a plain one`(_ text: String, expected: String) {
    let name = FileName.sanitised(text)
    #expect(Array(name.utf8) == Array(expected.utf8), "\(name.debugDescription)")
    #expect(FileName.sanitised(name) == name, "clean names stay")
  }

  @Test func `a long name is cut between characters before its extension`() {
    let long = FileName.sanitised(String(repeating: "a", count: 5000) + ".jpeg")
    #expect(long == String(repeating: "a", count: 250) + ".jpeg")
    #expect(FileName.sanitised(String(repeating: "a", count: 255)).utf8.count == 255)
    let accents = FileName.sanitised(String(repeating: "e\u{301}", count: 100) + ".x")
    #expect(accents == String(repeating: "e\u{301}", count: 84) + ".x")
    let noEnding = FileName.sanitised("a." + String(repeating: "b", count: 300))
    #expect(noEnding == "a." + String(repeating: "b", count: 253))
    let blankAtTheCut = FileName.sanitised(String(repeating: "a", count: 254) + " . bbbbbbbbbbbbbbbbbbbbbb")
    #expect(blankAtTheCut == String(repeating: "a", count: 254))
    let oneHuge = FileName.sanitised("a" + String(repeating: "\u{301}", count: 300) + ".png")
    #expect(oneHuge == "download.png", "one character that does not fit")
  }

  @Test func `any text gives a usable name`() {
    var random = SplitMix64(seed: 11)
    let alphabet = Array("./\\-~ a\u{0}\u{A}\u{202E}\u{FEFF}\u{E9}\u{1F600}\u{301}%".unicodeScalars)
    for _ in 0..<5000 {
      var scalars = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0..<400, using: &random) {
        scalars.append(alphabet.randomElement(using: &random) ?? "a")
      }
      let name = FileName.sanitised(String(scalars))
      let isUsable =
        !name.isEmpty && name.utf8.count <= 255
        && !name.unicodeScalars.contains { "/\\\u{0}\u{A}\u{202E}\u{FEFF}".unicodeScalars.contains($0) }
        && !".-~ ".unicodeScalars.contains(name.unicodeScalars.first ?? ".")
        && FileName.sanitised(name) == name
      if !isUsable {
        Issue.record("\(String(scalars).debugDescription) gave \(name.debugDescription)")
        return
      }
    }
  }

  @Test(arguments: [
    ("/a/b.png", "b.png"), ("/a/b.png?c=/d", "b.png"), ("/a/b.png#c", "b.png"), ("/a/", "download"),
    ("/", "download"), ("", "download"), ("/a%20b.txt", "a b.txt"), ("/x%2F..%2F.bashrc", "bashrc"),
    ("/%2e%2e", "download"), ("/%00x", "x"), ("/a%zz%4", "a%zz%4"), ("/%C3%A9", "\u{E9}"),
    ("/%252e", "%2e"),
  ])
  func `a URL path gives a name`(_ path: String, expected: String) {
    #expect(FileName.fromURLPath(path) == expected)
  }

  @Test func `bytes that are not UTF-8 do not stay in a name`() {
    #expect(FileName.fromURLPath("/%FF.x") == "\u{FFFD}.x")
  }
}

/// RFC 6266 and RFC 8187.
struct ContentDispositionTests {
  static let fields: [(String, String?)] = [
    ("attachment; filename=a.txt", "a.txt"),
    ("attachment; filename=\"a b.txt\"", "a b.txt"),
    ("ATTACHMENT;FILENAME=\"a;b.txt\"", "a;b.txt"),
    ("inline; filename=\"q\\\"q.txt\"", "q\"q.txt"),
    ("attachment; filename=with space.txt; size=3", "with space.txt"),
    ("attachment; filename*=UTF-8''na%C3%AFve.txt", "na\u{EF}ve.txt"),
    ("attachment; filename=plain.txt; filename*=utf-8'en'%e2%82%ac.txt", "\u{20AC}.txt"),
    ("attachment; filename*=UTF-8''x.txt; filename=plain.txt", "x.txt"),
    ("attachment; filename*=ISO-8859-1''%A3.txt", "\u{A3}.txt"),
    ("attachment; filename*=UTF-8''%FF; filename=plain.txt", "plain.txt"),
    ("attachment; filename*=koi8-r''x; filename=plain.txt", "plain.txt"),
    ("attachment; filename*=x.txt; filename=plain.txt", "plain.txt"),
    ("filename=bare.txt", "bare.txt"),
    ("filename=bare.txt; filename*=UTF-8''star.txt", "star.txt"),
    ("attachment; filename=\"../../etc/passwd\"", "../../etc/passwd"),
    ("attachment", nil),
    ("attachment;", nil),
    ("attachment; size=3", nil),
    ("attachment; filename=\"open", nil),
    ("", nil),
  ]

  @Test(arguments: fields)
  func `the file name is found`(_ field: String, expected: String?) {
    #expect(ContentDisposition.fileName(field) == expected)
  }

  @Test func `a plain name may be Latin-1`() {
    let field = Array("attachment; filename=\"caf".utf8) + [0xE9] + Array("\"".utf8)
    #expect(ContentDisposition.fileName(field[...]) == "caf\u{E9}")
  }

  @Test func `damaged fields never trap`() {
    var random = SplitMix64(seed: 13)
    let alphabet = Array(";=\"\\'*% fUuTt8-filenam\u{0}\u{FF}".utf8)
    for _ in 0..<(LongRun.isOn ? 20_000 : 4_000) {
      let field = (0..<Int.random(in: 0..<30, using: &random)).map { _ in
        alphabet.randomElement(using: &random) ?? 0
      }
      _ = ContentDisposition.fileName(field[...]).map(FileName.sanitised)
      _ = MediaType(field[...])
    }
  }
}
