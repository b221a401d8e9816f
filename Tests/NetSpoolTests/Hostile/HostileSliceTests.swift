import NetSpool
import NetSpoolTesting
import Testing

@Suite("A hostile origin, a few bytes at a time")
struct HostileSliceTests {
  /// What is long, endless or late takes its time already.
  private static let rows = HostileExpectation.all.filter { row in
    let name = row.name
    return !row.isLate && !name.hasPrefix("1xx") && !name.hasPrefix("gz_bomb") && !name.hasPrefix("stall")
      && ![
        "hdr_big_line", "hdr_many", "hdr_infinite", "hdr_line_infinite", "status_big_reason", "chunk_ext5mb",
        "chunk_trailers20k", "chunk_trailers_endless", "chunk_tiny", "body_endless", "redir_chain",
        // The reset may overtake what came before it.
        "reset_request", "reset_head", "reset_body",
      ].contains(name)
  }

  @Test(arguments: rows)
  func `is judged the same`(_ expected: HostileExpectation) async throws {
    try await withWire { wire in
      let proxy = try FaultProxy(to: wire.origin.port)
      proxy.set(.slicer(bytes: 3, variation: 2), on: .downstream)
      let behaviour = expected.behaviour
      let operation = wire.engine.operation(
        url: proxy.url(behaviour.path), method: NetworkRequest.Method(behaviour.method))
      for field in behaviour.requestHeaders { operation.setHeader(field.name, field.value) }
      if behaviour.method == "POST" { operation.setBody(.bytes(Array("hello".utf8))) }
      expected.ending.check(await wire.result(of: operation))
    }
  }
}
