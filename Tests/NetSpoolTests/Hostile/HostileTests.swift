import NetSpoolTesting
import Testing

@testable import NetSpool

@Suite("A hostile origin")
struct HostileTests {
  @Test func `has an expectation for every behaviour`() {
    #expect(HostileExpectation.all.map(\.name).sorted() == HostileCatalogue.all.map(\.name).sorted())
  }

  @Test(arguments: HostileExpectation.all)
  func `ends every operation once and harms no other`(_ expected: HostileExpectation) async throws {
    let behaviour = expected.behaviour
    try await withWire({ $0.limits.bodyBytesInMemoryMax = 16 << 20 }) { wire in
      // Given an operation that meets the behaviour
      let operation = wire.operation(behaviour.path, NetworkRequest.Method(behaviour.method))
      for field in behaviour.requestHeaders { operation.setHeader(field.name, field.value) }
      if behaviour.method == "POST" { operation.setBody(.bytes(Array("hello".utf8))) }
      if expected.isLate { operation.timeouts = expected.ending.limits }
      let tally = Tally()
      tally.watch(operation)
      // When it has run
      expected.ending.check(await wire.result(of: operation))
      // Then the engine serves the next request, on another connection where the old one is in doubt
      let last = try #require(wire.origin.requests.last)
      // By another name where the origin has asked for quiet.
      let host = expected.name.hasPrefix("ret_after") ? "localhost" : "127.0.0.1"
      #expect(await wire.get(wire.origin.url("/hostile/ok", host: host)).text == "ok")
      let connection = try #require(wire.origin.requests.last).connection
      if expected.endsConnection { #expect(connection != last.connection) }
      #expect(tally.ended == 1)
    }
  }
}
