import Testing

@testable import NetSpool
@testable import TestSupport

// One after the other: they count what reaches the one server.
@Suite("A hostile HTTP/2 server", .needsPython, .serialized)
struct HTTP2HostileTests {
  private let server: HostileServer

  init() throws { server = try HostileServer.sharedHTTP2() }

  @Test func `has an expectation for every behaviour`() {
    let names =
      HTTP2Expectation.all.map(\.name) + ["cut_off_together", "cut_off_and_closed", "silence_once", "random"]
    #expect(names.sorted() == server.behaviours)
  }

  @Test(arguments: HTTP2Expectation.all)
  func `ends every operation once and harms no other`(_ expected: HTTP2Expectation) async throws {
    let before = server.requests(expected.name).count
    try await withWire {
      $0.tls.caFile = server.authority
      $0.limits.bodyBytesInMemoryMax = 1 << 20
    } _: { wire in
      // Given an operation that meets the behaviour
      let operation = wire.engine.operation(
        url: server.url(expected.name), method: expected.hasBody ? .put : .get)
      if expected.hasBody { operation.setBody(.bytes([UInt8](repeating: 7, count: 100_000))) }
      if expected.isLate { operation.timeouts = expected.ending.limits }
      let tally = Tally()
      tally.watch(operation)
      // When it has run
      let ending = await wire.result(of: operation)
      let isCutOff = expected.mayBeCutOff && ending.reason == "flood"
      if isCutOff { #expect(ending.code == .http2Failed) } else { expected.ending.check(ending) }
      #expect(ending.reason?.isEmpty != true, "\(ending)")
      // Then it was not sent again and again, and the engine serves the next
      let count = server.requests(expected.name).count - before
      #expect(expected.requests.contains(count), "\(count) requests")
      let next = try await wire.answer(wire.engine.operation(url: server.url("ok")))
      #expect(next.text == "ok" && next.httpVersion == "HTTP/2")
      #expect(tally.ended == 1)
    }
  }

  @Test func `an answer that is whole counts, though its server reads no more of the request`() async throws {
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      // Given a body that is longer than the window, which nothing opens again
      let operation = wire.engine.operation(url: server.url("cacheable"), method: .put)
      operation.setBody(.bytes([UInt8](repeating: 7, count: 3 << 20)))
      // Then
      #expect(await wire.result(of: operation).text == "ok" && server.requests("cacheable").count > 0)
    }
  }

  /// A stream that is reset without an error looks like one that has ended, and so does a connection's end in the middle.
  @Test(arguments: [
    "cacheable", "cacheable_zipped", "cacheable_cut_off", "cacheable_reset", "zipped_reset", "length_reset",
  ])
  func `keeps no answer that may be cut off`(_ name: String) async throws {
    let isProven = ["cacheable", "cacheable_zipped"].contains(name)
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

  /// Of a body that was cut off nothing is published, whichever way; that a stream was reset without an error nobody tells.
  @Test(arguments: HTTP2Expectation.spoilt + HTTP2Expectation.unspoilt)
  func `publishes a file only when its end was told`(_ expected: HTTP2Expectation) async throws {
    let isSpoilt = HTTP2Expectation.spoilt.contains { $0.name == expected.name }
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      let ending = try await wire.save([server.url(expected.name)]).first
      let isCut = [.bodyTruncated, .http2Failed, .decodeFailed].contains(ending?.code)
      #expect(ending?.bytes == (isSpoilt ? nil : expected.bytes) && isCut == isSpoilt, "\(ending as Any)")
    }
  }

  @Test(arguments: [
    "goaway_after", "goaway_gently", "padded", "trailers", "data_after_end", "rst_after_answer",
    "unknown_frames",
  ])
  func `publishes a file though its connection ends, or more comes behind it`(_ name: String) async throws {
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
    try await withCache(engine: { $0.tls.caFile = server.authority }) { engine, _, _ in
      let urls = (0..<40).map { "\(server.url("cacheable"))\($0)" }
      for policy in [nil, NetSpool.CachePolicy.onlyIfCached] {
        let operations = urls.map { url in
          let operation = engine.operation(url: url)
          operation.cachePolicy = policy
          return operation
        }
        for ending in await engine.enqueue(operations).results {
          #expect(ending.text == "ok" && ending.response?.isFromCache == (policy != nil), "\(ending)")
        }
      }
    }
  }

  @Test func `leaves a connection that was given up`() async throws {
    try await withHostileServer(.http2, { $0.timeouts.stall = .seconds(0.3) }) { wire, server in
      // Given three answers that one bad frame has ended
      let url = server.url("cut_off_together")
      let operations = ["a", "b", "c"].map { wire.engine.operation(url: url + $0) }
      for ending in await wire.engine.enqueue(operations).results {
        // Where the server closes the connection before libcurl 7.88 has told the others, it takes what had come for all.
        let isCutOff = ending.code == .timedOut || ending.code == .http2Failed
        #expect(isCutOff || ending.text == "half ", "\(ending)")
      }
      // Then the next comes on another connection
      #expect(await wire.get(url + "d").text == "ok" && server.requests("cut_off_together").count == 4)
    }
  }

  @Test(arguments: [
    ("goaway_once", 2), ("rst_refused_once", 2), ("goaway_before", 3), ("rst_refused_stream", 3),
    ("goaway_calm", 1), ("hang_up", 1), ("rst_cancel", 1),
  ])
  func `gets a request again that it has not processed, not for ever, and none it may have processed`(
    _ name: String, requests: Int
  ) async throws {
    try await withHostileServer(.http2) { wire, server in
      let operation = wire.engine.operation(url: server.url(name), method: .post).setBody(.bytes([1, 2, 3]))
      let ending = await wire.result(of: operation)
      #expect(ending.text == (name.hasSuffix("_once") ? "ok" : nil), "\(ending)")
      #expect(server.requests(name).count == requests, "\(ending)")
    }
  }

  @Test func `leaves a connection on which no answer comes`() async throws {
    try await withHostileServer(.http2) { wire, server in
      // Given requests that wait in vain on the first connection
      let url = server.url("silence_once")
      let operations = ["a", "b", "c"].map { wire.engine.operation(url: url + $0) }
      for operation in operations { operation.timeouts = .init(headers: .seconds(0.3)) }
      for ending in await wire.engine.enqueue(operations).results {
        #expect(ending.code == .timedOut, "\(ending)")
      }
      // Then the next comes on another
      #expect(await wire.get(url + "d").text == "ok")
      #expect(await until { server.connections("silence_once") == 2 })
    }
  }

  @Test func `sends nothing more on a connection that is silent, though operations wait on it`() async throws
  {
    try await withHostileServer(.http2) { wire, server in
      // Given one who is patient, and one who is not
      let url = server.url("silence_once")
      let (patient, late) = (wire.engine.operation(url: url + "a"), wire.engine.operation(url: url + "b"))
      late.timeouts = .init(headers: .seconds(0.3))
      wire.engine.enqueue(patient)
      // Its server has said all that it will say
      #expect(await until { server.requests("silence_once").count == 1 })
      wire.engine.enqueue(late)
      let ending = await late.end()
      #expect(ending.code == .timedOut, "\(ending)")
      // Then the next ones come on another, and the patient goes on
      for path in ["c", "d"] {
        let next = wire.engine.operation(url: url + path)
        next.timeouts = .init(headers: .seconds(5))
        #expect(await wire.result(of: next).text == "ok")
      }
      #expect(server.connections("silence_once") == 2 && patient.state == .executing)
    }
  }

  @Test func `sends nothing more on a silent connection from which others went away`() async throws {
    try await withHostileServer(.http2) { wire, server in
      // Given two who wait for longer than a second
      let url = server.url("silence_once")
      let operations = wire.engine.start(["a", "b"].map { wire.engine.operation(url: url + $0) })
      #expect(await until { server.requests("silence_once").count == 2 })
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
    return await engine.enqueue(operations).results.enumerated().map { place, ending in
      (bytes: folder.bytes("\(place)")?.count, code: ending.code)
    }
  }
}
