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

  private func fetch(_ paths: [String], _ arguments: [String]) throws -> (
    exit: Tool.Exit?, output: String, errors: String
  ) {
    let list = try bench.write("list", paths.map { bench.origin.url($0) })
    return try Tool.run(
      ["fetch", list, "--progress", "never", "--cache", bench["cache"], "--output", bench["out"]] + arguments)
  }

  @Test func `sizes and company of the option are looked at before anything is sent`() throws {
    for (arguments, words) in [
      (["--thumbnail", "0"], "1 to 16383"), (["--thumbnail", "20000"], "1 to 16383"),
      (["--thumbnail", "64", "--checksum"], "--checksum"),
      (["--thumbnail", "64", "--format", "bmp"], "--format"),
    ] {
      let end = try fetch(["/a"], arguments)
      #expect(
        end.exit == .status(64) && (end.errors.contains(words) || end.errors.contains("without pictures")))
    }
    #expect(bench.origin.requestCount == 0)
  }

  #if !Images
  @Test func `a tool that was built without pictures says so in one sentence`() throws {
    let end = try fetch(["/a"], ["--thumbnail", "64"])
    #expect(end.exit == .status(64) && end.errors.contains("was built without pictures"))
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
      let end = try fetch(paths, ["--thumbnail", "16", "--format", "jpeg", "--results", bench["r\(run)"]])
      #expect(end.exit == .status(1), "\(end.errors)")
      let results = try bench.results("r\(run)")
      let done = results.filter { $0.outcome == .done }
      #expect(Set(done.compactMap(\.output)) == ["a.jpg", "b.jpg"])
      for result in done {
        let image = try #require(NetworkImage(ResponseBody(bench.read("out/\(result.output ?? "")") ?? [])))
        #expect(image.format == .jpeg && max(image.pixelWidth, image.pixelHeight) == 16)
        #expect(result.bytes == Int64(image.body.count) && result.contentType == "image/jpeg")
        #expect(result.source == (run == 0 ? .network : .cache))
      }
      #expect(
        Set(results.compactMap(\.reason)) == ["notAnImage", "imageTruncated"]
          && results.count { $0.error == "decodeFailed" } == 2)
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
    let paths = ["/a.png", "/b\t\(bench.origin.url("/good"))"]
    for run in 0..<2 {
      let end = try fetch(
        paths, ["--thumbnail", "16", "--format", "jpeg", "--output", bench["t.tar"]])
      #expect(end.exit == .status(0) && end.errors.contains("2 done before") == (run == 1), "\(end.errors)")
      var names: [String] = []
      let reader = try TarReader(bench["t.tar"])
      while case .member(let member) = try reader.next() {
        names.append(member.header.name)
        let bytes = Array(try reader.read(Int(member.header.size), at: member.body))
        if SampleName.isInfo(member.header.name) {
          #expect(String(decoding: bytes, as: UTF8.self).contains(#""width":16,"height":16,"format":"jpeg""#))
        } else {
          #expect(NetworkImage(ResponseBody(bytes))?.pixelWidth == 16)
        }
      }
      #expect(names.sorted() == ["a.jpg", "a.json", "b.jpg", "b.json"])
    }
  }

  @Test func `a decoder that dies takes its picture along and no other`() throws {
    let marker = bench["died"]
    let script =
      "if mkdir \"$1\" 2>/dev/null; then read -r line; kill -9 $$; fi; exec \"$2\" decode-pictures"
    let decoder = HelperDecoder(["/bin/sh", "-c", script, "sh", marker, try Tool.path()])
    defer { decoder.close() }
    func make() throws(PictureRejection) -> Picture {
      try decoder.make(ResponseBody(picture), ThumbnailTransform(maxSide: 16), ThumbnailLimits()) { false }
    }
    #expect(throws: PictureRejection.crashed) { try make() }
    for _ in 0..<3 { #expect(try max(make().width, make().height) == 16) }
  }

  @Test func `a decoder that does not answer in time is killed, and one that nobody waits for any more`()
    throws
  {
    let decoder = HelperDecoder(["/bin/sh", "-c", "exec sleep 1000"])
    defer { decoder.close() }
    var limits = ThumbnailLimits()
    limits.timeMax = .milliseconds(-900)
    #expect(throws: PictureRejection.time) {
      try decoder.make(ResponseBody(picture), ThumbnailTransform(), limits) { false }
    }
    #expect(throws: PictureRejection.cancelled) {
      try decoder.make(ResponseBody(picture), ThumbnailTransform(), ThumbnailLimits()) { true }
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
