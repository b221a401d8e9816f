import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Bodies as sequences")
struct StreamedResponseTests {
  @Test func `the head comes first, and the body as it is read`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.pattern(3 << 20).header("X-A", "b"))
      let answer = try await engine.stream(NetworkRequest(path: "a"))
      #expect(answer.status == 200 && answer.headers["X-A"] == "b" && answer.bytesExpected == 3 << 20)
      #expect(answer.metrics == nil)
      var count = 0
      for try await chunk in answer.body {
        let bytes = [UInt8](chunk)
        #expect(BodyPattern.matches(bytes, at: count) && bytes.count <= BodyPipe.bytesMax)
        count += bytes.count
      }
      #expect(count == 3 << 20 && answer.metrics?.bytesReceived == 3 << 20)
    }
  }

  @Test func `pieces that are kept are never written again`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.pattern(8 << 20))
      var pieces: [ResponseBytes] = []
      for try await piece in try await engine.stream(NetworkRequest(path: "a")).body { pieces.append(piece) }
      var offset = 0
      for piece in pieces {
        #expect(BodyPattern.matches([UInt8](piece), at: offset))
        offset += piece.count
      }
      #expect(offset == 8 << 20 && pieces.count > 8)
    }
  }

  @Test func `a pipe fills the memory of a piece that is let go of, and no other`() {
    let pipe = BodyPipe()
    func next(_ count: Int) -> [UInt8] {
      _ = pipe.write([UInt8](repeating: 7, count: count).rawBytes)
      guard case .bytes(let bytes) = pipe.take().piece else { return [] }
      return bytes
    }
    func place(_ bytes: [UInt8]) -> Int { unsafe bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } }
    let (first, second) = (place(next(60_000)), place(next(60_000)))
    #expect(place(next(60_000)) == first && place(next(60_000)) == second)
    let kept = (0..<8).map { _ in next(60_000) }
    #expect(Set(kept.map(place)).count == 8)
    // A long piece once does not make short ones large.
    _ = next(200_000)
    let short = (0..<8).map { _ in next(10) }
    #expect(short.dropFirst(3).allSatisfy { $0.capacity < 1_000 })
  }

  @Test func `a reader hears once of what comes in one turn`() {
    let pipe = BodyPipe()
    var turnEnds: [() -> Void] = []
    let sink = PipeSink(pipe) { turnEnds.append($0) }
    for _ in 0..<3 { #expect(sink.write(([7, 7] as [UInt8]).rawBytes) == 2) }
    #expect(turnEnds.count == 1)
    turnEnds.removeLast()()
    _ = sink.write(([7] as [UInt8]).rawBytes)
    #expect(turnEnds.count == 1)
    turnEnds.removeLast()()
  }

  @Test func `the little that has come is read before more comes`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.pattern(1_000).stallAfter(10))
      var iterator = try await engine.stream(NetworkRequest(path: "a")).body.makeAsyncIterator()
      var count = 0
      while count < 10, let piece = try await iterator.next() { count += piece.count }
      #expect(count == 10)
    }
  }

  @Test func `a reader that does not read stops the transfer`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.pattern(256 << 20))
      var iterator = try await engine.stream(NetworkRequest(path: "a")).body.makeAsyncIterator()
      _ = try await iterator.next()
      // Until no more comes: then the pipe is full, and the transfer stands.
      let queue = engine.configuration.queue
      var (before, quiet) = (queue.activity.bytesIn, 0)
      while quiet < 50 {
        for _ in 0..<20 { await engine.settle() }
        let now = queue.activity.bytesIn
        (before, quiet) = (now, now == before ? quiet + 1 : 0)
      }
      #expect(before < 3 * BodyPipe.bytesMax, "\(before) bytes came unread")
      _ = try await iterator.next()
    }
  }

  @Test func `a reader that takes nothing for longer than its limit is not waited for`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.pattern(256 << 20))
      origin.on("/b", .text("hello"))
      var request = NetworkRequest(path: "a")
      request.timeouts = .init(reader: .milliseconds(300))
      let operation = engine.operation(request)
      var iterator = try await engine.stream(operation).body.makeAsyncIterator()
      _ = try await iterator.next()
      let ending = await operation.end()
      #expect(ending.code == .timedOut && ending.reason == "reader")
      await #expect(throws: NetworkError.self) { while try await iterator.next() != nil {} }
      #expect(try await engine.get("b").text == "hello")
    }
  }

  @Test(arguments: ["break", "throw", "task", "drop"])
  func `a reader that leaves cancels`(how: String) async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.pattern(1 << 30).stallAfter(8 << 20))
      let (operation, cancelled) = (engine.operation(path: "a"), Latch())
      let task = Task {
        let answer = try await engine.stream(operation)
        if how == "drop" { return }
        for try await _ in answer.body {
          if how == "break" { break }
          if how == "throw" { throw PartFailure("enough") }
          if how == "task" { cancelled.open() }
        }
      }
      if how == "task" {
        await cancelled.opened()
        task.cancel()
      }
      let result = await task.result
      #expect(await operation.end().code == .cancelled)
      if how == "task" { #expect(throws: CancellationError.self) { try result.get() } }
    }
  }

  /// It always finds bytes, and so never waits.
  @Test func `a reader that is slower than the network leaves when its task is cancelled`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.pattern(64 << 20))
      let (operation, begun, isCancelled) = (engine.operation(path: "a"), Latch(), Latch())
      let pieces = Counter()
      let task = Task {
        for try await _ in try await engine.stream(operation).body {
          pieces.add()
          begun.open()
          await isCancelled.opened()
        }
      }
      await begun.opened()
      // More has come than it has been given
      while await operation.loopBytes() <= 512 << 10 { await moment() }
      task.cancel()
      isCancelled.open()
      let result = await task.result
      #expect(throws: CancellationError.self) { try result.get() }
      #expect(await operation.end().code == .cancelled && pieces.value == 1)
    }
  }

  @Test func `the page of an answer that a rule of one's own takes is its body`() async throws {
    try await withEngine({ $0.validate = { _ in } }) { engine, origin in
      origin.on("/missing", .text("nothing", status: 404))
      let answer = try await engine.stream(NetworkRequest(path: "missing"))
      #expect(answer.status == 404 && answer.bytesExpected == 7)
      var text: [UInt8] = []
      for try await piece in answer.body { text += piece }
      #expect(text == Array("nothing".utf8))
    }
  }

  @Test func `what is no success is thrown`() async throws {
    try await withEngine { engine, origin in
      origin.on("/missing", .text("nothing", status: 404))
      origin.on("/cut", Answer.pattern(100_000).closeAfter(50_000))
      let missing = await #expect(throws: NetworkError.self) { try await engine.stream("missing") }
      #expect(missing?.code == .status && missing?.response?.text == "nothing")
      let cut = try await engine.stream(NetworkRequest(path: "cut"))
      var count = 0
      let half = await #expect(throws: NetworkError.self) {
        for try await chunk in cut.body { count += chunk.count }
      }
      #expect(half?.code == .bodyTruncated && count == 50_000)
      origin.on("/empty", .status(204))
      let empty = try await engine.stream(NetworkRequest(path: "empty"))
      for try await _ in empty.body { Issue.record("204 has no body") }
      #expect(empty.status == 204)
    }
  }

  @Test func `a body in lines`() async throws {
    try await withEngine { engine, origin in
      let bytes = Array("one\r\ntwo\n\nthree\rfour\nlast".utf8)
      for size in [1, 3, 100] {
        let pieces = stride(from: 0, to: bytes.count, by: size).map {
          Array(bytes[$0..<min($0 + size, bytes.count)])
        }
        origin.on("/a", .chunks(pieces))
        var lines: [String] = []
        for try await line in try await engine.stream(NetworkRequest(path: "a")).lines { lines.append(line) }
        #expect(lines == ["one", "two", "", "three\rfour", "last"])
      }
    }
  }

  @Test func `the body of an operation that was enqueued before is not for a second reader`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.pattern(8 << 20))
      let operation = engine.operation(path: "a")
      let answer = try await engine.stream(operation)
      let refused = await #expect(throws: NetworkError.self) { try await engine.stream(operation) }
      #expect(refused?.code == .invalidRequest && refused?.reason == "enqueued")
      var count = 0
      for try await piece in answer.body { count += piece.count }
      #expect(count == 8 << 20)
      await #expect(throws: NetworkError.self) { try await engine.stream(operation) }
      let cancelled = engine.operation(path: "a")
      cancelled.cancel()
      let ending = await #expect(throws: NetworkError.self) { try await engine.stream(cancelled) }
      #expect(ending?.code == .cancelled)
    }
  }

  @Test func `events go on where they stopped`() async throws {
    try await withEngine { engine, origin in
      let first =
        "\u{FEFF}retry: 10\n: comment\nid: 1\ndata: a\ndata: b\n\nevent: news\rid: 2\rdata:c\r\rdata: lost"
      origin.enqueue(.events(first), .hangUp, .status(503), .events("data: d\n\n"), .status(204))
      var request = NetworkRequest(path: "events")
      request.retry = .none
      var events: [NetworkStreamedResponse.Event] = []
      for try await event in try await engine.stream(request).events { events.append(event) }
      #expect(events.map(\.data) == ["a\nb", "c", "d"])
      #expect(events.map(\.name) == ["message", "news", "message"] && events.map(\.id) == ["1", "2", "2"])
      #expect(origin.requests.map { $0.header("Last-Event-ID") } == [nil, "2", "2", "2", "2"])
    }
  }

  @Test(arguments: [true, false])
  func `the events of a POST end with its connection, unless it may be sent twice`(isKeyed: Bool) async throws
  {
    try await withEngine { engine, origin in
      origin.enqueue(.events("retry: 0\ndata: a\n\n"), .events("data: b\n\n"), .status(204), for: "/a")
      let chat = engine.operation(path: "a").setBody("hello")
      if isKeyed { chat.idempotencyKey = "once" }
      var seen: [String] = []
      var iterator = try await engine.stream(chat).events.makeAsyncIterator()
      while let event = try await iterator.next() { seen.append(event.data) }
      let after = try await iterator.next()
      #expect(
        after == nil && seen == (isKeyed ? ["a", "b"] : ["a"]) && origin.hits("/a") == (isKeyed ? 3 : 1))
    }
  }

  @Test func `an id that the origin takes back is not sent again, and the caller's own until there is one`()
    async throws
  {
    try await withEngine { engine, origin in
      origin.enqueue(
        .events("retry: 1\ndata: a\n\n"), .events("id: 1\ndata: b\n\n"), .events("id\ndata: c\n\n"),
        .status(204))
      var request = NetworkRequest(path: "events")
      request.headers.set("Last-Event-ID", "mine")
      for try await _ in try await engine.stream(request).events {}
      #expect(origin.requests.map { $0.header("Last-Event-ID") } == ["mine", "mine", "1", nil])
    }
  }

  @Test(arguments: [NetworkError.Code.engineClosed, .cancelled])
  func `a wait for more events hears of the engine's end`(code: NetworkError.Code) async throws {
    try await withEngine { engine, origin in
      origin.on("/events", .events("retry: 3600000\ndata: a\n\n"))
      let operation = engine.operation(path: "events")
      var events = try await engine.stream(operation).events.makeAsyncIterator()
      _ = try await events.next()
      #expect(await operation.end().response?.status == 200)
      let end = Task {
        while engine.followUps.isEmpty { await moment() }
        if code == .cancelled { engine.cancelAll() } else { await engine.shutDown(deadline: .seconds(3_000)) }
      }
      let error = await #expect(throws: NetworkError.self) { try await events.next() }
      #expect(error?.code == code)
      await end.value
    }
  }

  @Test(arguments: ["lines", "events", "body", "events with a length"])
  func `what comes slowly is waited for, where it is read as it comes`(kind: String) async throws {
    try await withEngine({
      $0.timeouts.stall = .seconds(3)
      $0.timeouts.stallBytesPerSecond = 1_000_000
    }) { engine, origin in
      var answer = Answer(body: .bytes(Array(String(repeating: "data: x\n\n", count: 12).utf8)))
      answer.framing = kind == "events with a length" ? .contentLength : .chunked()
      if kind.hasPrefix("events") { answer = answer.header("Content-Type", "text/event-stream") }
      origin.enqueue(answer.paced(.slices(of: 9, every: .milliseconds(400)), bodyOnly: true), .status(204))
      let stream = try await engine.stream(NetworkRequest(path: "a"))
      var (count, bytes) = (0, 0)
      switch kind {
      case "lines": for try await line in stream.lines where !line.isEmpty { count += 1 }
      case "body": for try await piece in stream.body { bytes += piece.count }
      default: for try await _ in stream.events { count += 1 }
      }
      #expect(count + bytes / 9 == 12)
    }
  }

  @Test func `what is no stream of events is refused`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("data: a\n\n"))
      let answer = try await engine.stream(NetworkRequest(path: "events"))
      await #expect(throws: NetworkError.self) { for try await _ in answer.events {} }
    }
  }

  @Test func `a sequence is sent as it comes`() async throws {
    try await withEngine { engine, origin in
      origin.fallback { .text("\($0.header("Content-Length") ?? "chunked") \($0.bodyCount) \($0.bodyHash)") }
      let pieces = (0..<200).map { BodyPattern.bytes(10_000, from: $0 * 10_000) }
      let hash = FNV1a.hash(BodyPattern.bytes(2_000_000))
      for length in [Int64?.none, 2_000_000] {
        let chunks = AsyncStream<[UInt8]> { continuation in
          for piece in pieces { continuation.yield(piece) }
          continuation.finish()
        }
        let answer = try await engine.post("a", body: .sequence(chunks, length: length))
        #expect(answer.text == "\(length.map(String.init) ?? "chunked") 2000000 \(hash)")
      }
    }
  }

  @Test func `a sequence that fails, or ends too early, fails the operation`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("taken"))
      let failing = AsyncThrowingStream<[UInt8], any Error> { continuation in
        continuation.yield([1, 2, 3])
        continuation.finish(throwing: PartFailure("broken"))
      }
      let broken = await engine.end(of: engine.operation(path: "a").setBody(.sequence(failing)))
      #expect(broken.code == .uploadSourceFailed)
      let short = AsyncStream<[UInt8]> { continuation in
        continuation.yield([1, 2, 3])
        continuation.finish()
      }
      let cut = await engine.end(of: engine.operation(path: "a").setBody(.sequence(short, length: 4)))
      #expect(cut.code == .uploadLengthMismatch)
    }
  }

  @Test func `a sequence is one operation's, and another that has it too takes nothing of it`() async throws {
    try await withEngine { engine, origin in
      origin.fallback { .text("\($0.bodyCount)") }
      let (begun, goesOn) = (Latch(), Latch())
      let chunks = AsyncThrowingStream<[UInt8], any Error> { continuation in
        Task {
          continuation.yield([1, 2, 3])
          await goesOn.opened()
          continuation.yield([4, 5])
          continuation.finish()
        }
      }
      let body = NetworkRequest.Body.sequence(chunks)
      let first = engine.operation(path: "a", method: .put).setBody(body)
      engine.enqueue(first.onUploadProgress { _ in begun.open() })
      await begun.opened()
      let second = await engine.end(of: engine.operation(path: "b", method: .put).setBody(body))
      #expect(second.code == .uploadSourceFailed, "\(second)")
      goesOn.open()
      #expect(await first.end().text == "5")
    }
  }

  @Test func `events that come again prepare their request anew`() async throws {
    let prepared = Counter()
    try await withEngine({ configuration in
      configuration.prepare = { request in
        prepared.add()
        request.headers.append(name: "X-Time", value: "now")
      }
    }) { engine, origin in
      origin.enqueue(.events("retry: 1\ndata: a\n\n"), .events("data: b\n\n"), .status(204))
      var request = NetworkRequest(path: "a", method: .post, body: .bytes(Array("body".utf8)))
      (request.idempotencyKey, request.compression) = ("k", .gzip)
      var all: [String] = []
      for try await event in try await engine.stream(request).events { all.append(event.data) }
      #expect(all == ["a", "b"] && prepared.value == 3)
      for request in origin.requests {
        #expect(request.headers.filter { $0.name.lowercased() == "x-time" }.count == 1)
        #expect(request.header("Content-Encoding") == "gzip" && request.body.starts(with: [0x1F, 0x8B]))
      }
    }
  }

  @Test func `a sequence is left when its operation ends`() async throws {
    try await withEngine { engine, origin in
      origin.on("/held", .noAnswer)
      let (begun, left) = (Latch(), Latch())
      let endless = AsyncStream<[UInt8]> {
        begun.open()
        try? await Task.sleep(for: .seconds(600))
        return nil
      } onCancel: {
        left.open()
      }
      let operation = engine.start(engine.operation(path: "held").setBody(.sequence(endless)))
      await begun.opened()
      operation.cancel()
      _ = await operation.end()
      await left.opened()
    }
  }
}

extension Answer {
  fileprivate static func events(_ text: String) -> Answer {
    .text(text).header("Content-Type", "text/event-stream")
  }
}
