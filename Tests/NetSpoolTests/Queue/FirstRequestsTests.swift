import NetSpool
import NetSpoolTesting
import Testing

/// The first requests to an origin that nothing is known of yet.
struct FirstRequestsTests {
  @Test func `requests behind the first do not wait for its answer`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(5) }) { engine, origin in
      // Given an origin that answers nobody, and different paths, so that no exchange is shared
      let paths = (0..<5).map { "/\($0)" }
      for path in paths { origin.hold(path, .text("ok")) }
      // When
      let operations = paths.map { engine.start($0) }
      // Then all of them arrive
      #expect(await origin.waitForRequests(5))
      origin.releaseAll()
      for operation in operations { #expect(await operation.end().text == "ok") }
      #expect(origin.connectionCount == 5)
    }
  }

  @Test func `an origin that closes every connection is asked by several at once`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(4) }) { engine, origin in
      for number in 0..<8 { origin.hold("/\(number)", .text("ok").closing()) }
      let operations = (0..<8).map { engine.start("/\($0)") }
      #expect(await origin.waitForRequests(4))
      for number in 0..<4 { origin.release("/\(number)") }
      #expect(await origin.waitForRequests(8))
      origin.releaseAll()
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }
}
