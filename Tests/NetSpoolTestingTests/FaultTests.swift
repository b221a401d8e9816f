import NetSpoolTesting
import Testing

@Suite struct FaultTests {
  private let origin: ScriptedOrigin

  init() throws { origin = try ScriptedOrigin() }

  private static let head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\n"

  static let cuts: [(point: FaultPoint, seen: String)] = [
    (.requestRead, ""), (.head(0), ""), (.head(10), String(head.prefix(10))), (.head(100_000), head),
    (.body(0), head), (.body(2), head + "he"), (.body(5), head + "hello"), (.body(100), head + "hello"),
    (.head(-1), ""), (.head(.max), head), (.body(-1), head), (.body(.max), head + "hello"),
  ]

  @Test(arguments: cuts) func `closes at the point`(point: FaultPoint, seen: String) throws {
    origin.on("/f", .text("hello").fault(.close, at: point))
    let client = try connected(origin, asking: "/f")
    #expect(String(decoding: client.readToEnd(), as: UTF8.self) == seen)
    #expect(client.end == .closed)
  }

  @Test(arguments: cuts) func `resets at the point`(point: FaultPoint, seen: String) throws {
    // The gate lets the client read what comes before the reset, which would destroy it otherwise.
    origin.on("/f", .text("hello").fault(.gate("read"), at: point).fault(.reset, at: point))
    let client = try connected(origin, asking: "/f")
    #expect(String(decoding: client.read(seen.utf8.count), as: UTF8.self) == seen)
    origin.release("read")
    #expect(client.readToEnd() == [])
    #expect(client.end == .reset)
  }

  @Test func `resets a connection as soon as it is accepted`() throws {
    origin.enqueue(Answer.status(200).fault(.reset, at: .accept), .text("second"))
    let first = try connected(origin)
    #expect(first.readToEnd() == [])
    #expect(first.end == .reset)
    #expect(try connected(origin).answer(to: "/").body == "second")
  }

  @Test func `writes each slice by itself`() throws {
    origin.on("/f", .text("hello").slice(1, every: .milliseconds(2)))
    let (client, whole) = (try connected(origin), Self.head + "hello")
    let time = ContinuousClock().measure {
      client.ask("/f")
      #expect(String(decoding: client.read(whole.utf8.count), as: UTF8.self) == whole)
    }
    #expect(time >= .milliseconds(2) * (whole.utf8.count - 1))
  }

  @Test func `keeps to its bytes per second`() throws {
    origin.on("/f", .pattern(20_000).throttle(100_000).closing())
    let client = try connected(origin)
    let time = ContinuousClock().measure {
      client.ask("/f")
      _ = client.readHead()
      #expect(BodyPattern.matches(client.readToEnd()))
    }
    #expect(time >= .milliseconds(180))
  }

  @Test func `a client that goes is let go, however late its answer is`() async throws {
    origin.on("/f", .text("hello").delay(.seconds(3_600)))
    var client: RawClient? = try connected(origin)
    client?.ask("/f")
    #expect(await origin.waitForRequests(1))
    client = nil
    #expect(await origin.waitForOpenConnections(0))
  }

  @Test func `sends garbage as it is`() throws {
    let garbage: [UInt8] = [0, 255, 13, 10, 7]
    origin.on("/f", .raw(garbage))
    let client = try connected(origin, asking: "/f")
    #expect(client.readToEnd() == garbage)
    #expect(client.end == .closed)
  }

  @Test func `plays parts in turn`() throws {
    origin.on(
      "/f",
      .raw([
        .text("a"), .gate("b"), .repeating([98, 99], times: 3), .pattern(4, from: 9), .stall, .text("z"),
        .reset,
      ]))
    let client = try connected(origin, asking: "/f")
    #expect(client.read(1) == [97])
    origin.release("b")
    #expect(client.read(6) == Array("bcbcbc".utf8))
    #expect(client.read(4) == BodyPattern.bytes(4, from: 9))
    origin.releaseAll()
    _ = client.readToEnd()
    #expect(client.end == .reset)
  }

  @Test func `strikes inside the request body`() async throws {
    origin.on("/f", .text("never").fault(.reset, at: .requestBody(1_000)))
    let client = try connected(origin)
    client.send("POST /f HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n")
    client.send([UInt8](repeating: 1, count: 999))
    client.send([1])
    #expect(client.readToEnd() == [])
    #expect(client.end == .reset)
    let request = try #require(await origin.takeRequest())
    #expect(request.bodyCount == 1_000)
    #expect(!request.isComplete)
  }
}
