import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite struct GateTests {
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
    #expect(await !blocking { origin.blockForRequests(1, within: .milliseconds(5)) })
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
