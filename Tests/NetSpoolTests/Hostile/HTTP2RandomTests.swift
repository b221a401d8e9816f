import Testing

@testable import NetSpool
@testable import TestSupport

/// A server that answers over HTTP/2 as a real one does, and then chance has changed something.
@Suite("A random HTTP/2 server", .needsPython) struct HTTP2RandomTests {
  @Test func `whatever it sends, each operation ends once and none takes a part for the whole`() async throws
  {
    let count = LongRun.isOn ? 2_000 : 40
    let seed = LongRun.isOn ? UInt64.random(in: 1...9_999_999) : 1
    let server = try HostileServer(.http2, seed: seed)
    defer { server.stop() }
    try await withWire {
      $0.tls.caFile = server.authority
      $0.limits.bodyBytesInMemoryMax = 1 << 20
    } _: { wire in
      var (whole, failed, connections) = (0, 0, 0)
      while connections < count {
        // Given some operations at once, so that they share a connection
        let operations = (0..<4).map { number in
          wire.engine.operation(url: "\(server.url("random"))\(number)")
        }
        let limits = NetworkRequest.Timeouts(headers: .milliseconds(300), stall: .milliseconds(300))
        for operation in operations { operation.timeouts = limits }
        let stream = MemoryDownloadStream()
        operations[0].addDownloadStream(stream)
        let tally = Tally()
        operations.forEach(tally.watch)
        // When they have run
        wire.engine.enqueue(operations)
        for (number, operation) in operations.enumerated() {
          let ending = await operation.end()
          let said = "seed \(seed), after \(connections) connections: \(ending)"
          if ending.response == nil { failed += 1 } else { whole += 1 }
          // Then a body of a known length is all of it
          let bytes = number == 0 ? stream.bytes.count : ending.response?.body.count
          if let length = ending.response?.headers["Content-Length"], ending.response?.status == 200 {
            #expect(bytes.map(String.init) == length, "\(said)")
          }
          if number == 0 { #expect(stream.isWhole == (ending.response != nil), "\(said)") }
        }
        // And the next is served
        #expect(await wire.get(server.url("ok")).text == "ok")
        #expect(tally.isOneEach && tally.ended == operations.count, "seed \(seed)")
        connections = server.connections("random")
      }
      // What a sanitizer slows down fails by its limit, and on a busy machine a little more does than elsewhere.
      #expect(isSanitized || whole > count / 8 && failed > count / 4, "\(whole) whole, \(failed) failed")
      print("http2: seed \(seed), \(connections) connections, \(whole) whole, \(failed) failed")
    }
  }
}
