import Glibc
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Tar files: what is written, what is read back, and by whom.
@Suite(.ownThreads) struct TarTests {
  private let scratch: TestFolder

  init() throws { scratch = try TestFolder() }

  private static let names = [
    "a", "photo.jpg", String(repeating: "n", count: 100), String(repeating: "n", count: 101),
    String(repeating: "d", count: 155) + "/" + String(repeating: "n", count: 100),
    String(repeating: "d", count: 156) + "/n", "große/Bäume.png",
    (0..<40).map { "folder\($0)" }.joined(separator: "/") + "/x.bin",
  ]

  @Test(arguments: names, [0, 1, 511, 512, 0o777_7777_7777, 0o1_0000_0000_0000] as [Int64])
  func `a header is read as it was written`(_ name: String, _ size: Int64) throws {
    let header = TarHeader(name: name, size: size, modified: 1_700_000_000)
    let bytes = header.bytes
    #expect(bytes.count % 512 == 0)
    var read: TarHeader?
    if case .header(let last) = TarHeader.parse(bytes.suffix(512)) { read = last }
    if bytes.count > 512 {
      guard case .header(let extra) = TarHeader.parse(bytes.prefix(512)) else {
        Issue.record("no pax header")
        return
      }
      #expect(extra.kind == .extended && extra.size <= 512)
      #expect(read?.take(pax: bytes[512..<512 + Int(extra.size)]) == true)
    }
    #expect(read == header)
  }

  @Test(arguments: ["\u{436}", "\u{5B57}", "\u{1F642}"], ["", "x", "xx", "xxx"])
  func `a long name is cut before a letter, and read back`(_ letter: String, _ tail: String) throws {
    let name = String(repeating: letter, count: 55) + tail
    let last = TarHeader(name: name + ".jpg", size: 1).bytes.suffix(512)
    let short = try #require(String(validating: last.prefix(100).prefix { $0 != 0 }, as: UTF8.self))
    #expect(short.utf8.count > 96 && "\(name).jpg".hasSuffix(short))
    let first = try output()
    for file in ["\(name).jpg", "b.txt"] { _ = try add(file, [65], to: first) }
    try first.finish()
    first.close()
    let ledger = Ledger(directory: scratch.path)
    let again = try output(ledger)
    #expect(try ledger.value(Fingerprint(.done, "http://h/\(name).jpg", name)) != nil)
    #expect(try ledger.value(Fingerprint(.done, "http://h/b.txt", "b")) != nil)
    again.close()
  }

  @Test func `an item whose key is longer than keys are now is known again`() throws {
    let name = String(repeating: "n", count: 240) + ".jpg"
    let first = try output()
    _ = try add(name, [65], to: first)
    try first.finish()
    first.close()
    let ledger = Ledger(directory: scratch.path)
    let again = try output(ledger)
    defer { again.close() }
    var options = FetchPlan.Options()
    (options.namesOutputs, options.namesSamples) = (true, true)
    let list = try ListReader([.arguments(["http://h/\(name)"])])
    let plan = FetchPlan(list: list, ledger: ledger, options: options)
    #expect(try plan.next() == .skipped && plan.tally.resumed == 1)
  }

  @Test func `a name that is no text does not end a tar`() {
    var block = TarHeader(name: "aaa", size: 5).bytes
    // The sum of the bytes stays.
    block.replaceSubrange(0..<3, with: [0xB6, 0x36, 0x37])
    #expect(TarHeader.parse(block[...]) == .header(TarHeader(name: "\u{FFFD}67", size: 5)))
  }

  @Test func `what is no header is not taken for one`() {
    let good = TarHeader(name: "a", size: 5).bytes
    for place in [0, 99, 124, 148, 156, 300, 345, 511] {
      var bad = good
      bad[place] ^= 0x41
      #expect(TarHeader.parse(bad[...]) == .unknown)
    }
    #expect(TarHeader.parse(TarHeader.end[..<512]) == .end)
    #expect(TarHeader.parse([UInt8](repeating: 0x41, count: 512)[...]) == .unknown)
    var header = TarHeader(name: "a", size: 5)
    for records in ["", "x", "9 path=b", "3 a", "999 path=b\n", "0 =\n", "-1 a=b\n", "12 size=-500\n"] {
      #expect(header.take(pax: Array(records.utf8)[...]) == records.isEmpty, "\(records)")
    }
  }

  @Test(arguments: [
    ("photo.jpg", "photo", "photo.jpg", "photo.json"), ("a/b.v2.png", "a/b", "a/b.v2.png", "a/b.json"),
    ("data.json", "data", "data.json", "data.info.json"), ("page", "page", "page.html", "page.json"),
    ("a.b/page", "a.b/page", "a.b/page.html", "a.b/page.json"), (".x", "_", "_.x", "_.json"),
    ("D.JSON", "D", "D.JSON", "D.info.json"),
  ])
  func `members of an item share the name up to its first dot`(
    _ name: String, _ key: String, _ body: String, _ info: String
  ) {
    let sample = SampleName(name)
    #expect(sample.key == key && sample.body("text/html; charset=utf-8") == body)
    #expect(sample.info(besides: body) == info)
    #expect(SampleName.isInfo(info) && SampleName(info).key == key)
    #expect(SampleName("x").body(nil) == "x.bin" && SampleName("x").body("image/PNG") == "x.png")
  }

  @Test func `parts are numbered and found again`() {
    let one = PartNames(path: "out/x.tar", isNumbered: false)
    #expect(one.path(0) == "out/x.tar" && one.folder == "out/")
    #expect(one.part("x.tar")?.isWhole == true && one.part("x.tar.netspool-part")?.isWhole == false)
    #expect(one.part("x-000000.tar") == nil && one.part("y.tar") == nil)
    let many = PartNames(path: "x.tar", isNumbered: true)
    #expect(many.path(12) == "x-000012.tar" && many.folder == "./")
    #expect(many.part("x-000012.tar")?.number == 12 && many.part("x-1234567.tar")?.number == 1_234_567)
    for name in ["x.tar", "x-12.tar", "x--00012.tar", "y-000012.tar", "x-000012.tar.gz", "x-.tar"] {
      #expect(many.part(name) == nil, "\(name)")
    }
    #expect(ShardLimit(argument: "100") == .items(100) && ShardLimit(argument: "1k") == .bytes(1_024))
    #expect(ShardLimit(argument: "0") == nil && ShardLimit(argument: "x") == nil)
    #expect(ShardLimit.bytes(10).isFull(items: 0, bytes: 0, next: 100) == false)
    #expect(
      ShardLimit.bytes(10).isFull(items: 1, bytes: 5, next: 6)
        && ShardLimit.items(1).isFull(items: 1, bytes: 0))
  }

  private func output(limit: ShardLimit? = nil, _ ledger: Ledger? = nil) throws -> ShardedOutput {
    try ShardedOutput(scratch["x.tar"], limit: limit, ledger ?? Ledger(directory: scratch.path))
  }

  /// An item as the job has it when its body has landed.
  private func add(_ name: String, _ body: [UInt8], to output: ShardedOutput) throws -> FetchOutcome {
    let item = FetchItem(id: 0, url: "http://h/\(name)", output: name)
    try Descriptor(opening: output.bodies.path(for: item), O_WRONLY | O_CREAT | O_TRUNC).write(body)
    return try output.add(item, .ok(Int64(body.count)))
  }

  private func run(_ words: [String]) throws -> String {
    try Tool.run(Array(words.dropFirst()), program: words[0], in: scratch.path).output
  }

  @Test func `GNU tar and Python read what is written`() throws {
    let output = try output()
    for name in Self.names.filter({ $0.split(separator: "/").allSatisfy { $0.utf8.count < 250 } }) {
      _ = try add(name, Array("body of \(name)".utf8), to: output)
    }
    try output.finish()
    output.close()
    let names = try run(["/usr/bin/env", "tar", "-tf", "x.tar", "--quoting-style=literal"])
      .split(separator: "\n").map(String.init)
    #expect(names.count == 2 * Self.names.count && names.contains("große/Bäume.png"))
    #expect(names.contains(Self.names[7]) && names.contains(Self.names[4] + ".bin"))
    let script = """
      import tarfile, json
      for m in tarfile.open('x.tar'):
        b = tarfile.open('x.tar').extractfile(m).read()
        print(json.loads(b)['output'] if m.name.endswith('.json') else b.decode())
      """
    let printed = try run(["/usr/bin/env", "python3", "-c", script])
    #expect(printed.contains("body of \(Self.names[5])\n") && printed.contains("\(Self.names[7])\n"))
  }

  @Test func `a tar that was cut anywhere goes on behind its last whole item`() throws {
    let part = scratch["x-000000.tar.netspool-part"]
    let first = try output(limit: .items(9))
    var ends = [0]
    for name in ["a.txt", String(repeating: "b", count: 150) + ".txt", "c.txt"] {
      _ = try add(name, Array(repeating: 7, count: 700), to: first)
      ends.append(FileFacts(path: part)?.size ?? 0)
    }
    first.close()
    let whole = try TestFiles.read(part)
    for length in stride(from: 1_000, through: whole.count, by: 97) {
      try Descriptor(opening: part, O_WRONLY | O_TRUNC).write(Array(whole[..<length]))
      let ledger = Ledger(directory: scratch.path)
      let again = try output(limit: .items(9), ledger)
      let end = ends.last { $0 <= length } ?? 0
      #expect(FileFacts(path: part)?.size == end)
      let isHeld = try ledger.value(Fingerprint(.done, "http://h/a.txt", "a")) != nil
      #expect(isHeld == (length >= ends[1]))
      again.close()
    }
  }

  @Test func `another program's output there stays as it is`() throws {
    for (name, text) in [
      ("x.tar.netspool-part", "mine"), ("x.tar", String(repeating: "no tar ", count: 500)),
      ("x.tar.netspool-part", String(repeating: "no tar ", count: 500)),
    ] {
      try scratch.write(name, text)
      #expect(throws: Mistake.self) { try output() }
      #expect(try TestFiles.read(scratch[name]) == Array(text.utf8))
      unsafe _ = unlink(scratch[name])
    }
  }

  @Test func `a tar of another program keeps what it has`() throws {
    try scratch.write("theirs.txt", "theirs")
    _ = try run(["/usr/bin/env", "tar", "-cf", "x.tar", "theirs.txt"])
    for name in ["a.txt", "b.txt"] {
      let output = try output()
      _ = try add(name, [65], to: output)
      try output.finish()
      output.close()
    }
    #expect(try run(["/usr/bin/env", "tar", "-tf", "x.tar"]) == "theirs.txt\na.txt\na.json\nb.txt\nb.json\n")
  }

  @Test func `two jobs never write one tar`() throws {
    let first = try output()
    #expect(throws: Mistake.self) { try output() }
    first.close()
  }
}
