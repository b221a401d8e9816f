import NetSpoolTesting
import Testing

@Suite struct LifeTests {
  @Test func `keeps its port from others while stopped`() throws {
    let origin = try ScriptedOrigin(starts: false)
    #expect(RawClient(port: origin.port) == nil)
    let others = try (0..<50).map { _ in try ScriptedOrigin(starts: false) }
    #expect(!others.map(\.port).contains(origin.port))
    try origin.start()
    #expect(RawClient(port: origin.port) != nil)
  }

  @Test func `closes its connections when the last reference goes`() throws {
    var origin: ScriptedOrigin? = try ScriptedOrigin()
    let port = try #require(origin?.port)
    let client = try #require(RawClient(port: port))
    origin = nil
    #expect(client.readToEnd() == [])
  }

  @Test func `can be stopped by its own closure`() throws {
    let origin = try ScriptedOrigin()
    origin.on("/stop") { [weak origin] _ in
      origin?.stop()
      return .text("never seen, or seen")
    }
    let client = try connected(origin, asking: "/stop")
    _ = client.readToEnd()
    #expect(client.end != .silence)
    #expect(!origin.isRunning)
  }

  @Test func `throws out requests that wait when it stops`() async throws {
    let origin = try ScriptedOrigin()
    origin.fallback(.noAnswer)
    let client = try connected(origin, asking: "/")
    #expect(await origin.waitForRequests(1))
    origin.stop()
    #expect(client.readToEnd() == [])
  }
}
