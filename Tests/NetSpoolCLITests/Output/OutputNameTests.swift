import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite struct OutputNameTests {
  @Test(arguments: [
    ("http://h/a/b.png", "b.png"), ("http://h/b.png?x=/y.z", "b.png"), ("http://h/b.png#/c", "b.png"),
    ("http://h", "index"), ("http://h/", "index"), ("http://h?a/b", "index"), ("http://h/a/", "index"),
    ("http://h/a%20b.png", "a b.png"), ("http://h/%C3%BC.png", "ü.png"), ("http://h/%2e%2e", "_."),
    ("http://h/..", "_."), ("http://h/.bashrc", "_bashrc"), ("http://h/a%2Fb", "a%2Fb"),
    ("http://h/a%00b", "a%00b"), ("http://h/a%zz", "a%zz"), ("http://h/a%F", "a%F"),
    ("http://h/a%FF", "a%FF"), ("http://h/-rf", "_rf"), ("http://h/a%0Ab", "a%0Ab"),
    ("http://h/%E2%80%AEgpj.exe", "%E2%80%AEgpj.exe"),
  ])
  func `comes from the URL's path`(url: String, name: String) { #expect(OutputName.fromURL(url) == name) }

  @Test(arguments: [
    ("a.png", "a.png"), ("d/e/a.png", "d/e/a.png"), ("/etc/passwd", "etc/passwd"),
    ("../../etc/passwd", "_/_/etc/passwd"), ("a/../b", "a/_/b"), ("./a//b/", "a/b"), ("-rf", "_rf"),
    ("d/-rf", "d/_rf"), ("a\u{7}b", "a_b"), ("a\tb", "a_b"), ("\u{202E}gpj", "_gpj"),
    (".profile", ".profile"), ("a b", "a b"), ("...", "..."), ("a.netspool-part", "a_netspool-part"),
    ("d.netspool-bodies/.A.NetSpool-New-1", "d_netspool-bodies/.A_NetSpool-New-1"),
  ])
  func `comes from the list made safe`(text: String, name: String) {
    #expect(OutputName.fromList(text) == name)
  }

  @Test(arguments: ["", "/", "///", ".", "./."])
  func `is nothing when the list names nothing`(text: String) { #expect(OutputName.fromList(text) == nil) }

  @Test func `is cut between characters and keeps its ending`() throws {
    let long = String(repeating: "ü", count: 200) + ".jpeg"
    let name = try #require(OutputName.fromList(long))
    #expect(name.utf8.count == 255)
    #expect(name == String(repeating: "ü", count: 125) + ".jpeg")
    let suffixed = OutputName.suffixed("d/" + name, 1_000)
    #expect(suffixed.utf8.count == 2 + 254)
    #expect(suffixed.hasSuffix("ü-1000.jpeg"))
  }

  @Test func `is cut inside a character that is longer than a name`() {
    let name = OutputName.fromURL("http://h/e" + String(repeating: "\u{301}", count: 200))
    #expect(name.utf8.count == 255 && name.unicodeScalars.first == "e")
    let suffixed = OutputName.suffixed(name, 7)
    #expect(suffixed.utf8.count == 255 && suffixed.utf8.suffix(2).elementsEqual("-7".utf8))
    #expect(OutputName.picture(name, ending: "webp").unicodeScalars.count == 125 + 5)
  }

  @Test(arguments: [
    ("a.png", "a-2.png"), ("d.e/a", "d.e/a-2"), ("a.tar.gz", "a.tar-2.gz"), (".profile", ".profile-2"),
    ("a.", "a-2."),
  ])
  func `gets its suffix before the ending`(name: String, suffixed: String) {
    #expect(OutputName.suffixed(name, 2) == suffixed)
  }

  @Test func `no safe name escapes or hides control`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    let alphabet = Array("./-%20aü\u{1}\t\u{202E}\\~ ")
    for _ in 0..<3_000 {
      let length = Int.random(in: 0..<300, using: &random)
      let text = String((0..<length).map { _ in alphabet.randomElement(using: &random)! })
      for name in [OutputName.fromList(text), OutputName.fromURL("http://h/" + text)] {
        guard let name else { continue }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        #expect(
          parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && !$0.hasPrefix("-") },
          "seed \(seed): \(name)")
        #expect(parts.allSatisfy { $0.utf8.count <= 255 }, "seed \(seed)")
        #expect(!name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E }, "seed \(seed)")
      }
    }
  }
}

@Suite struct OutputNamesTests {
  private func claims(_ wanted: [String]) throws -> [String] {
    let names = OutputNames(ledger: Ledger())
    return try wanted.map { try names.claim($0) }
  }

  @Test(arguments: [
    (["a", "b"], ["a", "b"]), (["a.png", "a.png", "a.png"], ["a.png", "a-1.png", "a-2.png"]),
    (["a-1", "a", "a"], ["a-1", "a", "a-2"]), (["d/a", "e/a"], ["d/a", "e/a"]),
    (["d", "d/a", "d/b"], ["d", "d-1/a", "d-1/b"]), (["d/a", "d"], ["d/a", "d-1"]),
    (["d/e/a", "d/e", "d"], ["d/e/a", "d/e-1", "d-1"]),
  ])
  func `no two lines share a name`(wanted: [String], got: [String]) throws {
    #expect(try claims(wanted) == got)
  }

  @Test func `many lines of one name cost one look-up each`() throws {
    let names = try claims(Array(repeating: "index", count: 20_000))
    #expect(Set(names).count == 20_000)
    #expect(names.last == "index-19999")
  }
}
