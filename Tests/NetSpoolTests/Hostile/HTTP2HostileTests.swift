import Testing

@testable import NetSpool
@testable import TestSupport

// One after the other: they count what reaches the one server.
@Suite("A hostile HTTP/2 server", .needsPython, .serialized)
struct HTTP2HostileTests {
  @Test func `has an expectation for every behaviour`() throws {
    let server = try HostileServer.sharedHTTP2()
    let names =
      HTTP2Expectation.all.map(\.name) + ["cut_off_together", "cut_off_and_closed", "silence_once", "random"]
    #expect(names.sorted() == server.behaviours)
  }

  @Test(arguments: HTTP2Expectation.all)
  func `ends every operation once and harms no other`(_ expected: HTTP2Expectation) async throws {
    let server = try HostileServer.sharedHTTP2()
    let before = server.requests(expected.name).count
    try await withWire {
      $0.tls.caFile = server.authority
      $0.limits.bodyBytesInMemoryMax = 1 << 20
    } _: { wire in
      // Given an operation that meets the behaviour
      let operation = wire.engine.operation(
        url: server.url(expected.name), method: expected.hasBody ? .put : .get)
      if expected.hasBody { operation.setBody(.bytes([UInt8](repeating: 7, count: 100_000))) }
      if expected.isLate { operation.timeouts = .init(headers: .seconds(0.3), stall: .seconds(0.3)) }
      let tally = Tally()
      tally.watch(operation)
      // When it has run
      check(await wire.result(of: operation), expected)
      // Then it was not sent again and again, and the engine serves the next
      let count = server.requests(expected.name).count - before
      #expect(expected.requests.contains(count), "\(count) requests")
      let next = try await wire.answer(wire.engine.operation(url: server.url("ok")))
      #expect(next.text == "ok" && next.httpVersion == "HTTP/2")
      #expect(tally.ended == 1)
    }
  }

  private func check(_ result: Result<NetworkResponse, NetworkError>, _ expected: HTTP2Expectation) {
    if expected.mayBeCutOff, case .failure(let error) = result, error.reason == "flood" {
      return #expect(error.code == .http2Failed)
    }
    switch (result, expected.ending) {
    case (.success(let response), .completes(let bytes)):
      #expect(response.status == 200 && response.body.count == bytes)
    case (.failure(let error), .fails(let code, let reason)):
      #expect(error.code == code && (error.reason ?? "").hasPrefix(reason), "\(error)")
      #expect(error.reason?.isEmpty != true, "\(error)")
    case (.success(let response), .fails(let code, _)):
      Issue.record("\(response.status), \(response.body.count) bytes, instead of \(code)")
    case (.failure(let error), .completes):
      Issue.record("\(error) instead of an answer")
    }
  }

  @Test func `an answer that is whole counts, though its server reads no more of the request`() async throws {
    let server = try HostileServer.sharedHTTP2()
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      // Given a body that is longer than the window, which nothing opens again
      let operation = wire.engine.operation(url: server.url("cacheable"), method: .put)
      operation.setBody(.bytes([UInt8](repeating: 7, count: 3 << 20)))
      // Then
      let answer = try await wire.answer(operation)
      #expect(answer.text == "ok" && server.requests("cacheable").count > 0)
    }
  }

  /// A stream that is reset without an error looks like one that has ended, and so does a connection's end in the middle.
  @Test(arguments: [
    "cacheable", "cacheable_zipped", "cacheable_cut_off", "cacheable_reset", "zipped_reset", "length_reset",
  ])
  func `keeps no answer that may be cut off`(_ name: String) async throws {
    let isProven = ["cacheable", "cacheable_zipped"].contains(name)
    let server = try HostileServer.sharedHTTP2()
    try await withCache(engine: { $0.tls.caFile = server.authority }) { engine, _, _ in
      let ending = await engine.end(of: engine.operation(url: server.url(name)))
      if name == "cacheable_cut_off", LoadedCurl.tellsOfCutOffs {
        #expect(ending.code == .http2Failed, "\(ending)")
      } else if let response = ending.response {
        #expect(response.text == (isProven ? "ok" : "half "))
        #expect(response.completeness == (isProven ? .whole : .closeDelimited))
      } else {
        #expect([.bodyTruncated, .decodeFailed].contains(ending.code), "\(ending)")
        #expect(["zipped_reset", "length_reset"].contains(name))
      }
      let again = engine.operation(url: server.url(name))
      again.cachePolicy = .onlyIfCached
      let kept = await engine.end(of: again)
      #expect(kept.code == (isProven ? nil : .notCached), "\(kept)")
    }
  }

  @Test(arguments: ["zipped_reset", "length_reset"])
  func `publishes no file that is cut off`(_ name: String) async throws {
    let server = try HostileServer.sharedHTTP2()
    let folder = try TestFolder()
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      let stream = FileDownloadStream(path: folder["body"])
      _ = try await wire.failure(wire.engine.operation(url: server.url(name)).addDownloadStream(stream))
    }
    #expect(folder.names.isEmpty)
  }

  /// Of a body that was cut off nothing is published, whichever way; that a stream was reset without an error nobody tells.
  @Test(arguments: HTTP2Expectation.spoilt + HTTP2Expectation.unspoilt)
  func `publishes a file only when its end was told`(_ expected: HTTP2Expectation) async throws {
    let isSpoilt = HTTP2Expectation.spoilt.contains { $0.name == expected.name }
    let server = try HostileServer.sharedHTTP2()
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      let ending = try await wire.save([server.url(expected.name)]).first
      let isCut = ending?.code == .bodyTruncated || ending?.code == .http2Failed
      #expect(ending?.bytes == (isSpoilt ? nil : expected.bytes) && isCut == isSpoilt, "\(ending as Any)")
    }
  }

  @Test(arguments: [
    "goaway_after", "goaway_gently", "padded", "trailers", "data_after_end", "rst_after_answer",
    "unknown_frames",
  ])
  func `publishes a file though its connection ends, or more comes behind it`(_ name: String) async throws {
    let server = try HostileServer.sharedHTTP2()
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      for _ in 0..<3 {
        let ending = try await wire.save([server.url(name)]).first
        #expect(ending?.bytes == 2, "\(ending as Any)")
      }
    }
  }

  @Test(arguments: [("cut_off_and_closed", 3, nil), ("goaway_at_fourth", 4, 2)] as [(String, Int, Int?)])
  func `publishes files of one connection only when their ends were told`(
    _ name: String, _ count: Int, _ bytes: Int?
  ) async throws {
    try await withHostileServer(.http2) { wire, server in
      // Given a body that goes to memory among them
      let other = wire.engine.start(wire.engine.operation(url: server.url(name) + "other"))
      let endings = try await wire.save((1..<count).map { "\(server.url(name))\($0)" })
      // Then all of them end at once, not when their time is over
      #expect(endings.allSatisfy { $0.bytes == bytes && ($0.code == .bodyTruncated) == (bytes == nil) })
      let ending = await other.end()
      #expect(bytes != nil ? ending.text == "ok" : ending.code == .bodyTruncated, "\(ending)")
    }
  }

  @Test func `keeps answers that share a connection`() async throws {
    let server = try HostileServer.sharedHTTP2()
    try await withCache(engine: { $0.tls.caFile = server.authority }) { engine, _, _ in
      let urls = (0..<40).map { "\(server.url("cacheable"))\($0)" }
      for policy in [nil, NetSpool.CachePolicy.onlyIfCached] {
        let operations = urls.map { url in
          let operation = engine.operation(url: url)
          operation.cachePolicy = policy
          return operation
        }
        engine.enqueue(operations)
        for operation in operations {
          let ending = await operation.end()
          #expect(ending.text == "ok" && ending.response?.isFromCache == (policy != nil), "\(ending)")
        }
      }
    }
  }

  @Test func `leaves a connection that was given up`() async throws {
    try await withHostileServer(.http2, { $0.timeouts.stall = .seconds(0.3) }) { wire, server in
      // Given three answers that one bad frame has ended
      let url = server.url("cut_off_together")
      let operations = wire.engine.start(["a", "b", "c"].map { wire.engine.operation(url: url + $0) })
      for operation in operations {
        let ending = await operation.end()
        // Where the server closes the connection before libcurl 7.88 has told the others, it takes what had come for all.
        let isCutOff = ending.code == .timedOut || ending.code == .http2Failed
        #expect(isCutOff || ending.text == "half ", "\(ending)")
      }
      // Then the next comes on another connection
      let next = try await wire.answer(wire.engine.operation(url: url + "d"))
      #expect(next.text == "ok" && server.requests("cut_off_together").count == 4)
    }
  }

  @Test(arguments: ["goaway_once", "rst_refused_once"])
  func `gets a request again that it has not processed, whatever its method`(_ name: String) async throws {
    try await withHostileServer(.http2) { wire, server in
      let operation = wire.engine.operation(url: server.url(name), method: .post).setBody(.bytes([1, 2, 3]))
      let answer = try await wire.answer(operation)
      #expect(answer.text == "ok" && server.requests(name).count == 2)
    }
  }

  @Test(arguments: [
    ("goaway_before", 3), ("rst_refused_stream", 3), ("goaway_calm", 1), ("hang_up", 1), ("rst_cancel", 1),
  ])
  func `gets no request again and again, and none twice that it may have processed`(
    _ name: String, requests: Int
  ) async throws {
    try await withHostileServer(.http2) { wire, server in
      let operation = wire.engine.operation(url: server.url(name), method: .post).setBody(.bytes([1, 2, 3]))
      let error = try await wire.failure(operation)
      #expect(server.requests(name).count == requests, "\(error)")
    }
  }

  @Test func `leaves a connection on which no answer comes`() async throws {
    try await withHostileServer(.http2, { $0.timeouts.headers = .seconds(0.3) }) { wire, server in
      // Given requests that wait in vain on the first connection
      let url = server.url("silence_once")
      let operations = wire.engine.start(["a", "b", "c"].map { wire.engine.operation(url: url + $0) })
      for operation in operations {
        let ending = await operation.end()
        #expect(ending.code == .timedOut, "\(ending)")
      }
      // Then the next comes on another
      let next = try await wire.answer(wire.engine.operation(url: url + "d"))
      #expect(next.text == "ok" && server.connections("silence_once") == 2)
    }
  }

  @Test func `sends nothing more on a connection that is silent, though operations wait on it`() async throws
  {
    try await withHostileServer(.http2) { wire, server in
      // Given one who is patient, and one who is not
      let url = server.url("silence_once")
      let (patient, late) = (wire.engine.operation(url: url + "a"), wire.engine.operation(url: url + "b"))
      late.timeouts = .init(headers: .seconds(0.3))
      wire.engine.enqueue([patient, late])
      let ending = await late.end()
      #expect(ending.code == .timedOut, "\(ending)")
      // Then the next ones come on another, and the patient goes on
      for path in ["c", "d"] {
        let next = wire.engine.operation(url: url + path)
        next.timeouts = .init(headers: .seconds(5))
        #expect(await wire.result(of: next).text == "ok")
      }
      #expect(server.connections("silence_once") == 2 && patient.state == .executing)
      patient.cancel()
      _ = await patient.end()
    }
  }

  @Test func `sends nothing more on a silent connection from which others went away`() async throws {
    try await withHostileServer(.http2) { wire, server in
      // Given two who wait for longer than a second
      let url = server.url("silence_once")
      let operations = wire.engine.start(["a", "b"].map { wire.engine.operation(url: url + $0) })
      let clock = wire.engine.operation(url: server.url("silence"))
      clock.timeouts = .init(headers: .seconds(1.5))
      _ = await wire.result(of: clock)
      // When one of them is cancelled
      operations[0].cancel()
      _ = await operations[0].end()
      // Then the next comes on another
      let next = wire.engine.operation(url: url + "c")
      next.timeouts = .init(headers: .seconds(5))
      #expect(await wire.result(of: next).text == "ok")
      #expect(server.connections("silence_once") == 2 && operations[1].state == .executing)
      operations[1].cancel()
      _ = await operations[1].end()
    }
  }
}

extension Wire {
  /// Downloads these to files. How each ended, and the length of its file, if there is one.
  fileprivate func save(_ urls: [String]) async throws -> [(bytes: Int?, code: NetworkError.Code?)] {
    let folder = try TestFolder()
    let operations = urls.indices.map { place in
      engine.operation(url: urls[place]).addDownloadStream(FileDownloadStream(path: folder["\(place)"]))
    }
    engine.enqueue(operations)
    var endings: [(bytes: Int?, code: NetworkError.Code?)] = []
    for (place, operation) in operations.enumerated() {
      let code = await operation.end().code
      let isThere = folder.names.contains("\(place)")
      endings.append((isThere ? try folder.text("\(place)").utf8.count : nil, code))
    }
    return endings
  }
}
