import Glibc
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite struct ListReaderTests {
  private func pulls(_ bytes: [UInt8]) throws -> [ListReader.Pull] {
    let scratch = try TestFolder()
    return try ListReader([.file(try scratch.write("l", bytes))]).rest()
  }

  private func item(_ url: String, _ name: String? = nil, line: Int = 1) -> ListReader.Pull {
    .item(ListItem(url: url, name: name, line: line))
  }

  @Test(
    arguments: [
      ("http://h/a\n", "http://h/a", nil), ("http://h/a", "http://h/a", nil),
      ("http://h/a\r\n", "http://h/a", nil), ("  http://h/a  \n", "http://h/a", nil),
      ("\u{FEFF}http://h/a\n", "http://h/a", nil), ("http://h/a\tb.png\n", "http://h/a", "b.png"),
      ("http://h/a\tb c/d.png\r\n", "http://h/a", "b c/d.png"), ("HTTPS://h/a\t\n", "HTTPS://h/a", nil),
      ("http://h/ä\tü\n", "http://h/ä", "ü"),
    ] as [(String, String, String?)])
  func `reads a line`(text: String, url: String, name: String?) throws {
    #expect(try pulls(Array(text.utf8)) == [item(url, name)])
  }

  @Test func `passes over blank lines and comments but counts them`() throws {
    let text = "# head\n\n   \n\r\n  # more\nhttp://h/a\n\nhttp://h/b#frag\n"
    #expect(try pulls(Array(text.utf8)) == [item("http://h/a", line: 6), item("http://h/b#frag", line: 8)])
  }

  @Test(
    arguments: [
      ("\tname", .notAURL(.empty)), ("h/a", .notAURL(.noScheme(nil))),
      ("ftp://h/a", .notAURL(.noScheme("ftp"))),
      ("http://", .notAURL(.noHost)), ("https:///a", .notAURL(.noHost)),
      ("http://h b/a", .notAURL(.hasSpace)),
      ("http://h/\u{1}", .notAURL(.hasControl)), ("http://h/\u{0}a", .hasNUL),
      (String(repeating: "a", count: 16_385), .tooLong), (String(repeating: "a", count: 300_000), .tooLong),
    ] as [(String, BrokenLine.Cause)])
  func `reports a broken line and goes on`(line: String, cause: BrokenLine.Cause) throws {
    try expectBroken(Array(line.utf8), cause)
  }

  @Test(arguments: [[0xFF], [0xC3], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
  func `reports a line that is not UTF-8`(tail: [UInt8]) throws {
    try expectBroken(Array("http://h/".utf8) + tail, .notUTF8)
  }

  private func expectBroken(_ line: [UInt8], _ cause: BrokenLine.Cause) throws {
    let pulls = try pulls(Array("http://h/1\n".utf8) + line + Array("\nhttp://h/3\n".utf8))
    try #require(pulls.count == 3)
    let broken = try #require(pulls[1].broken, "not broken: \(pulls[1])")
    #expect(broken.cause == cause && broken.line == 2 && broken.description.contains(":2: "), "\(broken)")
    #expect(pulls[2] == item("http://h/3", line: 3))
  }

  @Test func `takes the longest line at every offset in the buffer`() throws {
    let url = "http://h/" + String(repeating: "a", count: ListReader.lineBytesMax - 9)
    for padding in [0, 1, 49_151, 49_152, 49_153, 65_535, 65_536, 65_537, 81_919] {
      let comment = [UInt8](repeating: UInt8(ascii: "#"), count: min(padding, 16_000))
      let comments = Array(repeating: comment + [0x0A], count: max(1, padding / 16_000)).joined()
      let pulls = try pulls(Array(comments) + Array("\(url)\nhttp://h/b".utf8))
      #expect(pulls.count == 2, "padding \(padding)")
      #expect(pulls.first?.item?.url == url, "padding \(padding): \(pulls)")
    }
  }

  @Test func `reads any mix of lines like a model`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    var (bytes, expected) = ([UInt8](), [ListReader.Pull]())
    for line in 1...2_000 {
      let url = "http://h/" + String(repeating: "x", count: Int.random(in: 0..<200, using: &random))
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes += Array("# \(url)\n".utf8)
      case 1: bytes += [0x0D, 0x0A]
      case 2:
        bytes += Array("\(url)\tn\(line)\r\n".utf8)
        expected.append(item(url, "n\(line)", line: line))
      default:
        bytes += Array("\(url)\n".utf8)
        expected.append(item(url, line: line))
      }
    }
    #expect(try pulls(bytes) == expected, "seed \(seed)")
  }

  /// Reads some lines, lets somebody write to the list, and reads on.
  private func pulls(of lines: [String], after taken: Int, _ meanwhile: (TestFolder) throws -> Void) throws
    -> (urls: [String], changes: [ListChange])
  {
    let scratch = try TestFolder()
    let reader = try ListReader([.file(try scratch.write("l", lines.map { $0 + "\n" }.joined()))])
    var pulls = try (0..<taken).map { _ in try reader.next() }
    try meanwhile(scratch)
    pulls += try reader.rest()
    return (
      pulls.compactMap(\.item?.url),
      pulls.compactMap { if case .changed(let change) = $0 { change } else { nil } }
    )
  }

  private let long = (1...9_000).map { "http://127.0.0.1:18080/\($0)" }

  @Test(arguments: [0, 1, 5, 40_000, 65_535, 65_536, 65_537, 131_072, 200_000, 400_000])
  func `a list that is written anew while it is read gives no line that was never written`(count: Int) throws
  {
    let (urls, changes) = try pulls(of: long, after: 3_000) { scratch in
      try scratch.write("l", Array(repeating: UInt8(ascii: "x"), count: count))
    }
    #expect(urls.count > 3_000 && urls == Array(long.prefix(urls.count)))
    #expect(changes.map(\.hasGrown) == [false] && changes[0].line == urls.count)
    #expect(changes[0].description.hasSuffix("lines were taken, the rest is not fetched"))
  }

  @Test func `a list that has grown is read as it was`() throws {
    let (urls, changes) = try pulls(of: long, after: 3_000) { scratch in
      try scratch.write("l", (long + ["http://h/new"]).map { $0 + "\n" }.joined())
    }
    #expect(urls == long && changes.map(\.hasGrown) == [true])
  }

  @Test func `a last line that is still being written is not taken`() throws {
    let scratch = try TestFolder()
    let reader = try ListReader([.file(try scratch.write("l", "http://h/1\nhttp://h:80"))])
    #expect(try reader.next() == item("http://h/1"))
    try scratch.write("l", "http://h/1\nhttp://h:8080/2\n")
    #expect(try reader.rest() == [.changed(ListChange(source: scratch["l"], line: 1, hasGrown: true))])
  }

  @Test func `reads sources in order and knows how far it is`() throws {
    let scratch = try TestFolder()
    let one = try scratch.write("one", "http://h/1\nhttp://h/2")
    let two = try scratch.write("two", "http://h/3\n")
    let reader = try ListReader(
      ListSource.sources(of: [one, "http://h/a", "http://h/b", two]))
    #expect(reader.fraction == 0)
    let urls = try reader.rest().map(\.item?.url)
    #expect(urls == ["http://h/1", "http://h/2", "http://h/a", "http://h/b", "http://h/3"])
    #expect(reader.fraction == 1)
  }

  @Test func `does not wait for a slow pipe`() throws {
    let scratch = try TestFolder()
    let path = scratch["fifo"]
    #expect(unsafe mkfifo(path, 0o600) == 0)
    var writer: Descriptor? = try Descriptor(opening: path, O_RDWR)
    let reader = try ListReader([.file(path)])
    #expect(try reader.next() == .starved)
    #expect(reader.waitingFor != nil)
    #expect(reader.fraction == nil)
    try writer!.write(Array("http://h/1\nhttp://".utf8))
    #expect(try reader.next() == item("http://h/1"))
    #expect(try reader.next() == .starved)
    try writer!.write(Array("h/2".utf8))
    writer = nil
    #expect(try reader.next() == item("http://h/2", line: 2))
    #expect(try reader.next() == .end)
  }

  @Test func `names the list that cannot be read`() throws {
    let scratch = try TestFolder()
    let missing = scratch["missing"]
    let failure = #expect(throws: IOFailure.self) { try ListReader([.file(missing)]) }
    #expect(failure?.description == "cannot open \(missing): No such file or directory")
    let folder = try ListReader([.file(scratch.path)])
    #expect(throws: IOFailure(action: "read", path: scratch.path, code: EISDIR)) { try folder.next() }
  }

  @Test func `tells lists from URLs`() {
    #expect(
      ListSource.sources(of: ["-", "a.txt", "http://h/", "https://i/", "b"]) == [
        .standardInput, .file("a.txt"), .arguments(["http://h/", "https://i/"]), .file("b"),
      ])
  }

  @Test(arguments: [
    ("http://h/a", "http://h/a"), ("http://u:p@h/a", "http://•••@h/a"), ("http://u@h", "http://•••@h"),
    ("http://h/a@b", "http://h/a@b"), ("http://a@b@h?x@y", "http://•••@h?x@y"),
  ])
  func `hides user and password in messages`(url: String, masked: String) {
    #expect(URLText.masked(url) == masked)
  }

  @Test func `shows of a long URL what one reads`() {
    let long = "http://u:p@h/" + String(repeating: " ", count: 3_000)
    #expect(URLText.excerpt(long).count == 161)
    #expect(URLText.excerpt(long).hasPrefix("http://•••@h/"))
    #expect(URLText.excerpt("http://h/a") == "http://h/a")
  }
}
