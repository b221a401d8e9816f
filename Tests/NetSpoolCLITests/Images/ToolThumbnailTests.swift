import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

#if Images
@testable import NetSpoolImages
#endif

/// `fetch --thumbnail` as users meet it.
@Suite(.ownThreads) struct ToolThumbnailTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  private func fetch(_ paths: [String], _ words: String) throws -> Tool.End {
    try bench.write("list", paths.map { "{u}\($0)" })
    return try bench.fetch("list --cache \(bench["cache"]) --output out \(words)")
  }

  @Test func `sizes and company of the option are looked at before anything is sent`() throws {
    for (line, words) in [
      ("--thumbnail 0", "1 to 16383"), ("--thumbnail 20000", "1 to 16383"),
      ("--thumbnail 64 --checksum", "--checksum"), ("--thumbnail 64 --format bmp", "--format"),
    ] {
      let end = try fetch(["/a"], line).expect(status: 64)
      #expect(end.errors.contains(words) || end.errors.contains("without pictures"), "\(end.errors)")
    }
    #expect(bench.origin.requestCount == 0)
  }

  #if !Images
  @Test func `a tool that was built without pictures says so in one sentence`() throws {
    try fetch(["/a"], "--thumbnail 64").expect(status: 64, saying: "was built without pictures")
    #expect(bench.origin.requestCount == 0)
  }
  #else
  private let picture = Thumbnail.png(1)

  private func serve(_ path: String, _ bytes: [UInt8]) {
    bench.origin.on(path, .bytes(bytes, type: "image/png").header("Cache-Control", "max-age=3600"))
  }

  @Test func `pictures become thumbnails, and the results say which; the second time from the cache`() throws
  {
    let paths = ["/a.png", "/b", "/page.png", "/cut.png"]
    for path in paths { serve(path, picture) }
    serve("/page.png", Array("<html>".utf8))
    serve("/cut.png", picture.dropLast(20))
    for run in 0..<2 {
      try fetch(paths, "--thumbnail 16 --format jpeg --results r\(run)").expect(status: 1)
      let results = try bench.results("r\(run)")
      let done = results.filter { $0.end.ending == .done }
      #expect(Set(done.compactMap(\.output)) == ["a.jpg", "b.jpg"])
      for result in done {
        let image = try #require(NetworkImage(ResponseBytes(bench.read("out/\(result.output ?? "")") ?? [])))
        #expect(image.format == .jpeg && max(image.pixelWidth, image.pixelHeight) == 16)
        #expect(result.end.bytes == Int64(image.body.count) && result.end.contentType == "image/jpeg")
        #expect(result.end.source == (run == 0 ? .network : .cache))
      }
      #expect(
        Set(results.compactMap(\.end.reason)) == ["notAnImage", "imageTruncated"]
          && results.count { $0.end.error == "decodeFailed" } == 2)
      let text = bench.text("r\(run)") ?? ""
      #expect(
        text.contains(#""width":16,"#) && text.contains(#""format":"jpeg","sourceBytes":\#(picture.count)"#))
    }
    // Those that were no pictures are asked for again.
    #expect(bench.origin.requestCount == 6)
  }

  @Test func `thumbnails go into a tar, and a mirror is asked for what is no picture`() throws {
    for path in ["/a.png", "/good"] { serve(path, picture) }
    serve("/b", picture.dropLast(20))
    try bench.write("list", ["{u}/a.png", "{u}/b\t{u}/good"])
    for run in 0..<2 {
      let end = try bench.fetch("list --cache \(bench["cache"]) --thumbnail 16 --format jpeg --output t.tar")
      #expect(end.exit == .status(0) && end.errors.contains("2 done before") == (run == 1), "\(end.errors)")
      var names: [String] = []
      let reader = try TarReader(bench["t.tar"])
      while case .member(let member) = try reader.next() {
        names.append(member.header.name)
        let bytes = Array(try reader.read(Int(member.header.size), at: member.body))
        if SampleName.isInfo(member.header.name) {
          #expect(String(decoding: bytes, as: UTF8.self).contains(#""width":16,"height":16,"format":"jpeg""#))
        } else {
          #expect(NetworkImage(ResponseBytes(bytes))?.pixelWidth == 16)
        }
      }
      #expect(names.sorted() == ["a.jpg", "a.json", "b.jpg", "b.json"])
    }
  }

  /// The digest of what is served there, as a plain fetch has it.
  private func digest(_ path: String) throws -> String {
    try bench.fetch("{u}\(path) -o plain --no-cache -q --checksum --results digests").expect(status: 0)
    return try #require(try bench.results("digests").first?.end.sha256)
  }

  @Test func `a picture with another digest than its line says becomes no thumbnail`() throws {
    serve("/a.png", picture)
    serve("/b.png", Thumbnail.png(2))
    let (mine, other) = (try digest("/a.png"), try digest("/b.png"))
    func run(_ line: String) throws -> ResultRecord {
      _ = try fetch([line], "--thumbnail 16 --results r")
      return try #require(try bench.results("r").last)
    }
    let refused = try run("/a.png\tsha256=\(other)")
    #expect(refused.end.ending == .failed(.forGood) && refused.end.error == "digestMismatch")
    #expect(refused.end.status == 200)
    #expect(DemoFolder.countFiles(in: bench["out"]) == 0)
    // The mirror has it.
    let found = try run("/a.png\tsha256=\(other)\t\(bench.origin.url("/b.png"))")
    #expect(found.end.ending == .done && found.end.finalURL == bench.origin.url("/b.png"))
    // A thumbnail in the cache is as good as the picture beside it.
    #expect(try run("/a.png").end.ending == .done)
    let sent = bench.origin.requestCount
    #expect(try run("/a.png\tsha256=\(other)").end.error == "digestMismatch")
    let held = try run("/a.png\tsha256=\(mine.uppercased())")
    // What has another digest than was wanted leaves the cache, so it is asked for once more.
    #expect(held.end.ending == .done && held.end.picture?.width == 16, "\(held)")
    #expect(bench.origin.requestCount == sent + 1)
  }

  @Test func `a thumbnail whose picture the origin has confirmed says so`() throws {
    bench.origin.on("/a.png") { [picture] request in
      let isSame = request.header("If-None-Match") == "\"1\""
      return (isSame ? Answer.status(304) : .bytes(picture, type: "image/png"))
        .header("Cache-Control", "no-cache").header("ETag", "\"1\"")
    }
    for run in 0..<2 {
      let end = try fetch(["/a.png"], "--thumbnail 16 --results r --json")
      #expect(end.exit == .status(0) && end.output.contains("\"revalidated\":\(run)"), "\(end.output)")
      #expect(try #require(try bench.results("r").first).end.source == (run == 0 ? .network : .revalidated))
    }
  }

  @Test func `an archive has an entry for a thumbnail from the cache`() throws {
    serve("/a.png", picture)
    for source in ["network", "cache"] {
      try fetch(["/a.png"], "--thumbnail 16 --har x.har").expect(status: 0)
      let text = bench.text("x.har") ?? ""
      #expect(
        text.contains("\"_source\":\"\(source)\"") && text.contains(bench.origin.url("/a.png")), "\(text)")
      #expect(!text.contains("Made-Of"))
    }
  }

  @Test(arguments: [false, true])
  func `a resumed job makes what was made otherwise before, and nothing else`(digests: Bool) throws {
    serve("/a.png", picture)
    let line = try "/a.png\ta" + (digests ? "\tsha256=\(digest("/a.png"))" : "")
    func run(_ way: String) throws -> Bool {
      let end = try fetch([line], "--results r --resume \(way)").expect(status: 0)
      return end.errors.contains("1 done before")
    }
    let ways = [
      "--thumbnail 16", "--thumbnail 200", "--thumbnail 300", "--thumbnail 200 --fit cover",
      "--thumbnail 200 --format jpeg", "",
    ]
    for way in ways + ways {
      #expect(try !run(way), "\(way)")
      #expect(try run(way), "\(way)")
    }
    #expect(try bench.results("r").first?.end.picture?.transform == "16 contain webp")
    #expect(bench.read("out/a") == picture)
  }

  /// So few that the tool has hardly one for a connection, or none for its results; and enough.
  @Test(arguments: [18, 20, 24, 64])
  func `too few descriptors are no fault of the pictures`(_ count: Int) throws {
    let paths = (0..<20).map { "/\($0).png" }
    for path in paths { serve(path, picture) }
    try bench.write("list", paths.map { "{u}\($0)" })
    let line = "fetch list --thumbnail 16 --no-cache -q --output out --results r"
    let end = try bench.shell(line, after: "ulimit -n \(count);")
    let results = count < 64 ? (try? bench.results("r")) ?? [] : try bench.results("r")
    #expect(end.exit != .status(1), "\(end.errors)")
    #expect(results.allSatisfy { $0.end.error != "imageRejected" })
    if count == 64 { #expect(results.count { $0.end.ending == .done } == 20, "\(end.errors)") }
  }

  @Test func `a decoder that cannot be started is said to be that`() throws {
    let decoder = HelperDecoder([bench["no such program"]])
    defer { decoder.close() }
    #expect(throws: PictureRejection.unstarted) {
      try decoder.make(ResponseBytes(picture), ThumbnailTransform(), ThumbnailLimits()) { false }
    }
  }

  @Test func `a decoder that has to wait for a busy machine is waited for`() throws {
    let script = "while [ ! -e \"$1\" ]; do sleep 0.05; done; exec \"$2\" decode-pictures"
    let decoder = HelperDecoder(["/bin/sh", "-c", script, "sh", bench["go"], try Tool.path()])
    defer { decoder.close() }
    var limits = ThumbnailLimits()
    limits.timeMax = .seconds(1)
    let start = ContinuousClock.now
    // Longer than the picture may take, of which the decoder has had next to nothing.
    let made = try decoder.make(ResponseBytes(picture), ThumbnailTransform(maxSide: 16), limits) { [bench] in
      if ContinuousClock.now - start > .milliseconds(2_200) { _ = try? bench.write("go", []) }
      return false
    }
    #expect(made.width == 16)
  }

  @Test func `a decoder that dies takes its picture along and no other`() throws {
    let marker = bench["died"]
    let script = "if mkdir \"$1\" 2>/dev/null; then read -r line; kill -9 $$; fi; exec \"$2\" decode-pictures"
    let decoder = HelperDecoder(["/bin/sh", "-c", script, "sh", marker, try Tool.path()])
    defer { decoder.close() }
    func make() throws(PictureRejection) -> Picture {
      try decoder.make(ResponseBytes(picture), ThumbnailTransform(maxSide: 16), ThumbnailLimits()) { false }
    }
    #expect(throws: PictureRejection.crashed) { try make() }
    for _ in 0..<3 { #expect(try max(make().width, make().height) == 16) }
  }

  @Test func `a decoder that does not answer in time is killed, and one whose picture is no longer wanted`()
    throws
  {
    var limits = ThumbnailLimits()
    limits.timeMax = .milliseconds(-900)
    for script in ["while :; do :; done", "exec sleep 1000"] {
      let decoder = HelperDecoder(["/bin/sh", "-c", script])
      defer { decoder.close() }
      #expect(throws: PictureRejection.time) {
        try decoder.make(ResponseBytes(picture), ThumbnailTransform(), limits) { false }
      }
    }
    let decoder = HelperDecoder(["/bin/sh", "-c", "exec sleep 1000"])
    defer { decoder.close() }
    #expect(throws: PictureRejection.cancelled) {
      try decoder.make(ResponseBytes(picture), ThumbnailTransform(), ThumbnailLimits()) { true }
    }
  }

  @Test func `what is said between tool and decoder comes out as it went in`() throws {
    let transform = ThumbnailTransform(maxSide: 77, format: .avif, fit: .cover, quality: 31)
    var limits = ThumbnailLimits()
    limits.pixelsMax = 5_000_000_000
    limits.timeMax = .milliseconds(2_500)
    let question = try #require(PictureWire.question(PictureWire.question(123, transform, limits)))
    #expect(question.count == 123 && question.1 == transform && question.2 == limits)
    for rejection in PictureRejection.allCases {
      #expect(throws: rejection) { try PictureWire.answer(PictureWire.answer(rejection)) }
    }
    let made = try PictureWire.answer(PictureWire.answer(Picture(bytes: [1, 2, 3], width: 4, height: 5)))
    #expect(made?.width == 4 && made?.height == 5 && made?.count == 3)
    #expect(PictureWire.question([UInt8](repeating: 0xFF, count: PictureWire.questionBytes)) == nil)
  }
  #endif
}
