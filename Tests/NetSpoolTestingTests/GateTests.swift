import NetSpoolTesting
import Testing

@Suite struct GateTests {
  @Test func `chooses the answer when the request is let go`() async throws {
    let origin = try ScriptedOrigin()
    origin.on("/a", .text("old"))
    origin.hold("/a")
    let client = try connected(origin, asking: "/a")
    #expect(await origin.waitForWaiting("/a", 1))
    origin.on("/a", .text("new"))
    origin.releaseAll()
    #expect(client.readAnswer().body == "new")
  }

  @Test func `lets a count pass`() async throws {
    let origin = try ScriptedOrigin()
    origin.fallback(.text("x"))
    origin.hold("/a")
    let clients = try (0..<5).map { _ in try connected(origin) }
    for client in clients { client.ask("/a") }
    #expect(await origin.waitForWaiting("/a", 5))
    origin.release("/a", count: 2)
    origin.release("/a", count: 1)
    #expect(await origin.waitForRequests(5))
    while origin.waitingCount("/a") > 2 { await Task.yield() }
    #expect(origin.waitingCount("/a") == 2)
    origin.release("/a")
    for client in clients { #expect(client.readAnswer().body == "x") }
  }

  @Test func `tells when the time is over`() async throws {
    let origin = try ScriptedOrigin()
    #expect(await !origin.waitForRequests(1, within: .milliseconds(5)))
    #expect(await origin.takeRequest(within: .milliseconds(5)) == nil)
    #expect(blockingWait(origin) == false)
  }

  /// In a function of its own: blocking is for code that is not asynchronous.
  private func blockingWait(_ origin: ScriptedOrigin) -> Bool {
    origin.blockForRequests(1, within: .milliseconds(5))
  }

  @Test func `ends waiting when the task is cancelled`() async throws {
    let origin = try ScriptedOrigin()
    let task = Task { await origin.waitForRequests(1) }
    task.cancel()
    #expect(await !task.value)
  }

  @Test func `takes requests one by one`() throws {
    let origin = try ScriptedOrigin()
    let client = try connected(origin)
    for path in ["/1", "/2", "/3"] { client.ask(path) }
    #expect((0..<3).map { _ in origin.blockForRequest()?.path } == ["/1", "/2", "/3"])
  }
}
