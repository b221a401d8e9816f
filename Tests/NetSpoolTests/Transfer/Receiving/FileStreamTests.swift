import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Streams into files and descriptors")
struct FileStreamTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// A download into this stream fails with this number of the system.
  private static func expectFailure(
    _ number: Int32, into stream: some DownloadStream, bytes: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await withWire { wire in
      wire.origin.on("/a", .pattern(bytes))
      let error = try await wire.failure(wire.operation("/a").addDownloadStream(stream))
      let isRight = error.code == .sinkFailed && error.underlying == .errno(number)
      #expect(isRight, "\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test func `replaces an old file at the end`() async throws {
    let path = try folder.write("a", Array("old".utf8))
    try await withWire { wire in
      wire.origin.on("/a", .text("hello"))
      let answer = try await wire.answer(
        wire.operation("/a").addDownloadStream(FileDownloadStream(path: path, digests: true)))
      #expect(answer.streams[0].path == path && answer.streams[0].bytes == 5)
      #expect(answer.streams[0].sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    }
    #expect(try folder.read("a") == Array("hello".utf8))
    #expect(folder.names == ["a"])
  }

  @Test(arguments: [
    Answer.text("sorry", status: 500), .pattern(2_000_000).closeAfter(1_500_000),
    .pattern(2_000).resetAfter(500), .noAnswer,
  ])
  func `leaves the old file when the body fails`(_ answer: Answer) async throws {
    let path = try folder.write("a", Array("old".utf8))
    try await withWire({ $0.timeouts.headers = .seconds(0.3) }) { wire in
      wire.origin.on("/a", answer)
      _ = try await wire.failure(wire.operation("/a").addDownloadStream(FileDownloadStream(path: path)))
    }
    #expect(try folder.read("a") == Array("old".utf8))
    #expect(folder.names == ["a"])
  }

  @Test func `appends`() async throws {
    let path = try folder.write("a", Array("old and ".utf8))
    try await withWire { wire in
      wire.origin.on("/a", .text("new"))
      let stream = FileDownloadStream(path: path, append: true)
      _ = try await wire.answer(wire.operation("/a").addDownloadStream(stream))
      #expect(try folder.read("a") == Array("old and new".utf8))
      wire.origin.on("/a", .pattern(2_000_000).closeAfter(1_500_000))
      let again = FileDownloadStream(path: path, append: true)
      _ = try await wire.failure(wire.operation("/a").addDownloadStream(again))
    }
    #expect(try folder.read("a") == Array("old and new".utf8))
  }

  @Test func `appends bodies that come at once one behind the other`() async throws {
    let path = try folder.write("a", Array("old".utf8))
    let texts = ["/a", "/b", "/c"].map { ($0, String(repeating: $0, count: 500_000)) }
    try await withWire { wire in
      for (target, text) in texts { wire.origin.on(target, .text(text)) }
      try await withThrowingTaskGroup { group in
        for (target, _) in texts {
          let stream = FileDownloadStream(path: path, append: true)
          group.addTask { _ = try await wire.answer(wire.operation(target).addDownloadStream(stream)) }
        }
        try await group.waitForAll()
      }
    }
    // The old text, and each body without a break
    var rest = try folder.text("a").dropFirst(3)
    for _ in texts {
      let text = try #require(texts.first { rest.hasPrefix($0.1) }?.1)
      rest = rest.dropFirst(text.count)
    }
    #expect(rest.isEmpty)
    #expect(folder.names == ["a"])
  }

  @Test func `waits a second for a stopped process that appends`() async throws {
    let path = try folder.write("a", Array("old".utf8))
    let other = try unsafe TestDescriptor(owning: open(path, O_RDWR | O_CLOEXEC), from: "open")
    #expect(flock(other.number, LOCK_EX | LOCK_NB) == 0)
    try await Self.expectFailure(EWOULDBLOCK, into: FileDownloadStream(path: path, append: true), bytes: 3)
    #expect(try folder.read("a") == Array("old".utf8))
  }

  @Test(arguments: [
    ("none/a", ENOENT), ("folder", EISDIR), ("file/a", ENOTDIR), ("link", ELOOP),
    (String(repeating: "x", count: 300), ENAMETOOLONG),
  ])
  func `says why a target cannot be written`(_ target: String, _ number: Int32) async throws {
    try TestFiles.makeDirectory(folder["folder"])
    try folder.write("file", [])
    try folder.link("link", to: folder["file"])
    // So long that it waits for the file
    try await Self.expectFailure(number, into: FileDownloadStream(path: folder[target]), bytes: 3 << 20)
    #expect(folder.names == ["file", "folder", "link"])
  }

  @Test func `says that the disk is full`() async throws {
    let full = try unsafe TestDescriptor(owning: open("/dev/full", O_WRONLY | O_CLOEXEC), from: "open")
    try await Self.expectFailure(ENOSPC, into: DescriptorDownloadStream(full.number), bytes: 100_000)
  }

  @Test func `says that a file became too long`() async throws {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      signal(SIGXFSZ, SIG_IGN)
      let folder = try TestFolder()
      let path = try folder.write("a", Array("old".utf8))
      try await FileStreamTests.expectFailure(EFBIG, into: FileDownloadStream(path: path), bytes: 3 << 20)
      #expect(try folder.read("a") == Array("old".utf8))
      #expect(folder.names == ["a"])
    }
  }

  @Test(arguments: [false, true]) func `ends without a signal when nothing reads`(isSocket: Bool) async throws
  {
    let (pipe, pair) = (try makePipe(), try TestDescriptor.makePair())
    close(pipe.read)
    defer { close(pipe.write) }
    #expect(shutdown(pair.ours.number, Int32(SHUT_RD)) == 0)
    let stream = DescriptorDownloadStream(isSocket ? pair.theirs.number : pipe.write)
    try await Self.expectFailure(EPIPE, into: stream, bytes: 1_000_000)
  }

  @Test func `decodes before streaming`() async throws {
    try await withWire { wire in
      let text = Array(String(repeating: "the same words again. ", count: 1_000).utf8)
      wire.origin.on("/a", .gzip(Gzip.stored(text)))
      let stream = MemoryDownloadStream()
      let file = FileDownloadStream(path: folder["a"])
      let answer = try await wire.answer(
        wire.operation("/a").addDownloadStream(stream).addDownloadStream(file))
      #expect(stream.bytes == text && stream.isWhole)
      #expect(answer.streams.map(\.bytes) == [Int64(text.count), Int64(text.count)])
      #expect(try folder.read("a") == text)
    }
  }

  @Test func `fails a memory stream that is full`() async throws {
    try await withWire { wire in
      wire.origin.on("/a", .pattern(1_001))
      let stream = MemoryDownloadStream(bytesMax: 1_000)
      let error = try await wire.failure(wire.operation("/a").addDownloadStream(stream))
      #expect(error.code == .sinkFailed && !stream.isWhole)
    }
  }
}
