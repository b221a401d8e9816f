import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Downloads that broke off and go on.
@Suite(.ownThreads) struct ResumeTests {
  private static let count = 3 << 20
  private let origin: ScriptedOrigin
  private let folder: TestFolder

  init() throws {
    origin = try ScriptedOrigin()
    folder = try TestFolder()
  }

  private func fetch(
    _ path: String = "/file", attempts: Int = 1, bytesMin: Int64 = 0, sha256: String? = nil,
    seen: Journal<TransferProgress> = .init()
  ) throws -> Result<NetworkResponse, NetworkError> {
    let queue = try NetworkQueue()
    defer { queue.close() }
    let engine = try NetworkEngine(on: queue) { $0.retry = attempts == 1 ? .none : .attempts(attempts) }
    let operation = engine.operation(url: origin.url(path))
    operation.addDownloadStream(
      FileDownloadStream(
        path: folder["file"], resume: true, partBytesMin: bytesMin, sha256: sha256, digests: true))
    operation.onDownloadProgress { seen.add($0) }
    return Result { () throws(NetworkError) in try engine.wait(for: operation) }
  }

  @Test(
    arguments: [
      ("bytes 0-2/9", nil), ("bytes 0-2/*", nil), ("bytes 5-3/9", nil), ("bytes 0-3/9", .bodyTruncated),
      ("bytes 0-1/9", .protocolViolation),
    ] as [(String, NetworkError.Code?)])
  func `a part is as long as it says`(range: String, code: NetworkError.Code?) async throws {
    origin.on("/part", Answer.text("abc", status: 206).header("Content-Range", range))
    try await withEngine({ $0.retry = .none }) { engine, _ in
      let operation = engine.operation(url: origin.url("/part")).setHeader("Range", "bytes=0-2")
      let ending = await engine.end(of: operation)
      #expect(ending.code == code && (ending.text == "abc") == (code == nil), "\(ending)")
    }
  }

  private func breakOff(_ etag: String? = "\"a\"") throws {
    let broken = Answer.pattern(Self.count).closeAfter(2 << 20)
    origin.on("/file", etag.map { broken.header("ETag", $0) } ?? broken)
    #expect(throws: NetworkError.self) { try fetch().get() }
  }

  private var whole: [UInt8] { BodyPattern.bytes(Self.count) }

  /// Not compared inside an expectation, which would look for the differences of two long arrays.
  private func isWhole() throws -> Bool { try folder.read("file") == whole }

  private func offer(_ etag: String) { origin.on("/file") { .resumable(Self.count, etag: etag, for: $0) } }

  @Test func `the rest is asked for and put behind the part`() throws {
    try breakOff()
    #expect(folder.names == ["file.netspool-part", "file.netspool-validator"])
    let part = try folder.read("file.netspool-part")
    #expect(part.count > 1 << 20 && whole.starts(with: part), "\(part.count)")
    offer("\"a\"")
    let response = try fetch().get()
    #expect(response.status == 206)
    #expect(origin.requests.last?.header("Range") == "bytes=\(part.count - 65_536)-")
    #expect(origin.requests.last?.header("If-Range") == "\"a\"")
    #expect(origin.requests.last?.header("Accept-Encoding") == "identity")
    #expect(try isWhole() && folder.names == ["file"])
    #expect(response.streams.first?.sha256 == patternDigest(Self.count))
  }

  @Test func `progress is that of the whole, and begins at the part`() throws {
    try breakOff()
    let part = Int64(try folder.read("file.netspool-part").count)
    offer("\"a\"")
    let seen = Journal<TransferProgress>()
    _ = try fetch(seen: seen).get()
    #expect(seen.entries.allSatisfy { $0.total == Int64(Self.count) && $0.done >= part - 65_536 })
    #expect(seen.entries.last?.fraction == 1)
  }

  @Test func `a file that has changed begins anew`() throws {
    try breakOff()
    offer("\"b\"")
    #expect(try fetch().get().status == 200)
    #expect(try isWhole() && folder.names == ["file"])
  }

  /// As stores of compressed files do, whatever is asked for.
  @Test func `a body that begins anew is decoded where it comes compressed`() throws {
    for isBroken in [true, false] {
      if isBroken { try breakOff() }
      origin.on("/file", Answer.gzip(try Compressed.gzip(whole)).header("ETag", "\"b\""))
      #expect(try fetch().get().status == 200)
      let codings = origin.requests.last?.headers.filter { $0.name == "Accept-Encoding" }.map(\.value)
      #expect(codings == ["identity"])
      #expect(origin.requests.last?.header("Range") != nil || !isBroken)
      #expect(try isWhole() && folder.names == ["file"])
    }
  }

  @Test func `a rest that does not fit is never stitched, and the next attempt begins anew`() throws {
    for round in 0..<(LongRun.isOn ? 400 : 4) {
      try breakOff()
      // Its rest under another entity tag than was asked for
      origin.on("/file") { request in
        var answer = Answer.resumable(Self.count, etag: "\"a\"", for: request)
        answer.headers.removeAll { $0.name == "ETag" }
        return answer.header("ETag", "\"b\"")
      }
      let failure = #expect(throws: NetworkError.self) { try fetch().get() }
      #expect(failure?.code == .resumeMismatch && folder.names.isEmpty, "round \(round)")
    }
    offer("\"b\"")
    #expect(try fetch().get().status == 200)
    #expect(try isWhole())
  }

  @Test func `a part that another program has added to begins anew`() throws {
    try breakOff()
    let part = try folder.read("file.netspool-part")
    try folder.write("file.netspool-part", part + [UInt8](repeating: 0, count: 4_096))
    offer("\"a\"")
    #expect(failure { _ = try fetch().get() }?.code == .resumeMismatch)
    #expect(folder.names.isEmpty)
    #expect(try fetch().get().status == 200)
    #expect(try isWhole() && folder.names == ["file"])
  }

  @Test(arguments: [true, false])
  func `every stream of an operation gets all bytes, also beside one that has a part`(isFirst: Bool) throws {
    try breakOff()
    offer("\"a\"")
    let engine = try NetworkEngine()
    let operation = engine.operation(url: origin.url("/file"))
    let (memory, copy) = (MemoryDownloadStream(), FileDownloadStream(path: folder["copy"]))
    let resumed = FileDownloadStream(path: folder["file"], resume: true)
    let streams: [any DownloadStream] = isFirst ? [resumed, memory, copy] : [memory, copy, resumed]
    for stream in streams { operation.addDownloadStream(stream) }
    #expect(try engine.wait(for: operation).status == 200)
    let areWhole = try isWhole() && folder.read("copy") == whole && memory.bytes == whole
    #expect(areWhole && folder.names == ["copy", "file"])
  }

  @Test func `a part is of the URL with its parameters`() throws {
    let engine = try NetworkEngine()
    func fetch(_ page: String) throws -> NetworkResponse {
      let operation = engine.operation(url: origin.url("/file"), parameters: ["page": page])
      operation.retry = .none
      operation.addDownloadStream(FileDownloadStream(path: folder["file"], resume: true))
      return try engine.wait(for: operation)
    }
    origin.on("/file", Answer.pattern(Self.count).closeAfter(2 << 20).header("ETag", "\"a\""))
    #expect(throws: NetworkError.self) { try fetch("1") }
    offer("\"a\"")
    #expect(try fetch("2").status == 200)
  }

  @Test(arguments: [0, 1 << 20] as [Int64], [false, true])
  func `a body that breaks off goes on under the attempts of its policy`(
    bytesMin: Int64, isRedirected: Bool
  ) throws {
    origin.on("/from", .redirect(to: "/file"))
    let broken = Answer.pattern(Self.count).closeAfter(2 << 20).header("ETag", "\"a\"")
    origin.on("/file") { $0.header("Range") == nil ? broken : .resumable(Self.count, etag: "\"a\"", for: $0) }
    let response = try fetch(isRedirected ? "/from" : "/file", attempts: 2, bytesMin: bytesMin).get()
    #expect(response.status == 206 && response.metrics.attempts == 2)
    #expect(origin.requests.last?.header("If-Range") == "\"a\"" && origin.hits("/file") == 2)
    #expect(try isWhole() && folder.names == ["file"])
  }

  @Test func `a stream whose body begins anew goes on nowhere`() async throws {
    try breakOff()
    // Given a rest that breaks off, and an origin that has another file then
    let rest = try folder.read("file.netspool-part").count - 65_536
    let (stream, asked, seen) = (
      FileDownloadStream(path: folder["file"], resume: true, partBytesMin: 0), Counter(), Journal<Int64>()
    )
    origin.on("/file") { request in
      let isRest = asked.add() == 1
      let answer = Answer.resumable(Self.count, etag: isRest ? "\"a\"" : "\"b\"", for: request)
      return isRest ? answer.closeAfter(200_000) : answer
    }
    try await withEngine({ $0.retry = .attempts(2) }) { engine, _ in
      let operation = engine.operation(url: origin.url("/file")).addDownloadStream(stream)
      operation.onAttempt { _, _ in seen.add(stream.resumedAt) }
      #expect(await engine.end(of: operation).response?.status == 200)
    }
    #expect(seen.entries == [Int64(rest)] && stream.resumedAt == 0)
    #expect(try isWhole())
  }

  @Test func `a body that breaks off again and again ends with its last attempt, and leaves its part`() throws
  {
    origin.on("/file") { Answer.resumable(Self.count, etag: "\"a\"", for: $0).closeAfter(512 << 10) }
    let failure = #expect(throws: NetworkError.self) { try fetch(attempts: 3).get() }
    #expect(failure?.attempts == 3 && folder.names == ["file.netspool-part", "file.netspool-validator"])
    #expect(try folder.read("file.netspool-part").count > 1 << 20)
  }

  @Test func `a server without a byte behind the part is asked anew`() throws {
    try breakOff()
    origin.on("/file") { $0.header("Range") == nil ? .pattern(Self.count) : .status(416) }
    #expect(failure { _ = try fetch().get() }?.code == .resumeMismatch)
    #expect(folder.names.isEmpty)
    #expect(try fetch().get().status == 200)
    #expect(try isWhole())
  }

  @Test func `a rest that breaks off while it is compared costs nothing of the part`() throws {
    try breakOff()
    let part = try folder.read("file.netspool-part")
    origin.on("/file") { Answer.resumable(Self.count, etag: "\"a\"", for: $0).closeAfter(1_024) }
    #expect(throws: NetworkError.self) { try fetch().get() }
    #expect(try folder.read("file.netspool-part") == part)
    offer("\"a\"")
    #expect(try fetch().get().status == 206)
    #expect(try isWhole())
  }

  @Test func `a part that is whole asks for its end`() throws {
    try breakOff()
    offer("\"a\"")
    try folder.write("file.netspool-part", whole)
    #expect(try fetch().get().status == 206)
    #expect(origin.requests.last?.header("Range") == "bytes=\(Self.count - 65_536)-")
    #expect(try isWhole())
  }

  @Test func `without a strong validator no part is left`() throws {
    try breakOff(nil)
    #expect(folder.names.isEmpty)
    try breakOff("W/\"a\"")
    #expect(folder.names.isEmpty)
  }

  @Test func `another program's file of that name is left alone`() throws {
    try folder.write("file.netspool-part", "precious")
    offer("\"a\"")
    let failure = #expect(throws: NetworkError.self) { try fetch().get() }
    #expect(failure?.code == .sinkFailed && failure?.reason?.contains("the name is taken") == true)
    #expect(try folder.text("file.netspool-part") == "precious")
  }

  @Test func `a short body leaves no part and may be compressed`() throws {
    origin.on("/file", Answer.pattern(Self.count).header("ETag", "\"a\"").resetAfter(1 << 20))
    #expect(throws: NetworkError.self) { try fetch(bytesMin: 8 << 20).get() }
    #expect(folder.names.isEmpty)
    #expect(origin.requests.last?.header("Accept-Encoding") != "identity")
  }

  @Test(arguments: [0, 8 << 20] as [Int64])
  func `a body with another digest is not published`(bytesMin: Int64) throws {
    offer("\"a\"")
    let wrong = String(repeating: "0", count: 64)
    #expect(failure { _ = try fetch(bytesMin: bytesMin, sha256: wrong).get() }?.code == .digestMismatch)
    #expect(folder.names.isEmpty)
  }
}
