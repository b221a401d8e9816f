import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// One flag, and a request is kept until it has been answered.
struct FreezingTests {
  private let fixture: FreezingFixture

  init() throws { fixture = try FreezingFixture() }

  @Test func `is sent at once when it can be`() async throws {
    try await fixture.live { engine in
      let events = Journal<String>()
      let operation = engine.letter("/letters").onFrozen { _ in events.add("frozen") }
      let ticket = await engine.freeze(operation)
      let ending = await operation.end()
      events.add("ended")
      #expect(ending.text == "taken")
      #expect(events.entries == ["frozen", "ended"])
      #expect(engine.frozenOperations.isEmpty && engine.deadLetters.isEmpty)
      let sent = try #require(fixture.origin.requests.first)
      #expect(sent.header("Idempotency-Key") == "\"\(ticket.idempotencyKey)\"")
      #expect(sent.header("Content-Type") == "text/plain")
      #expect(String(decoding: sent.body, as: UTF8.self) == "hello")
      #expect(fixture.origin.requestCount == 1)
    }
  }

  /// What looks whether it is up must have the certificate: under TLS 1.2 the handshake fails without.
  @Test(.needsNginx, arguments: ["TLSv1.2", "TLSv1.3"])
  func `waits for a dead server that wants a certificate`(version: String) async throws {
    var options = NginxServer.Options()
    options.tlsProtocols = version
    let (server, folder) = (try NginxServer(options), try TestFolder())
    let proxy = try FaultProxy(to: Int(server.mutualTLSPort))
    proxy.stop()
    try await withQueue { queue in
      var configuration = NetworkEngine.Configuration()
      (configuration.queue, configuration.port) = (queue, proxy.port)
      configuration.tls.caFile = server.certificates.authority
      configuration.credentials = .clientCertificate(path: server.certificates.client)
      let engine = try NetworkEngine(host: "localhost", configuration: configuration)
      try engine.useFreezing(FreezeConfiguration(directory: folder.path))
      let operation = engine.letter("/seen")
      _ = await engine.freeze(operation)
      // It has been tried, and waits
      #expect(await until { engine.frozenOperations.first?.lastError != nil })
      try proxy.start()
      #expect(await operation.end().text?.contains("client=CN") == true)
      #expect(try server.requests().count { $0.method == "POST" } == 1)
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
  }

  @Test func `a wait for an outcome may be left, and the request goes on`() async throws {
    fixture.origin.stop()
    try await fixture.live { engine in
      let ticket = await engine.freeze(engine.letter("/letters"))
      let impatient = Task { await ticket.outcome }
      impatient.cancel()
      let left = await impatient.value
      #expect(left.code == .cancelled && left.reason == "frozen")
      // Others wait, and ask when it is known
      async let outcome = ticket.outcome
      try fixture.origin.start()
      #expect(await outcome.text == "taken")
      #expect(await ticket.outcome.text == "taken" && "\(ticket)" == "#\(ticket.id) frozen")
    }
  }

  @Test func `survives a restart`() async throws {
    fixture.origin.stop()
    let journal = Journal<String>()
    var ticket: FrozenTicket?
    try await fixture.live { engine in
      let operation = engine.letter("/letters")
      operation.tag = "mail"
      operation.configure { $0.freezing.userInfo = [1, 2, 3] }
      operation.onCompletion { _ in journal.add("completed") }.onError { journal.add("\($0)") }
      ticket = await engine.freeze(operation)
    }
    // The engine was shut down, so its operation ended as frozen: neither completed nor failed
    #expect(journal.entries.isEmpty)
    try fixture.origin.start()
    try await fixture.live { engine in
      let outcome = try await engine.thawed(tag: "mail")
      #expect(outcome.id == ticket?.id && outcome.idempotencyKey == ticket?.idempotencyKey)
      #expect(outcome.tag == "mail" && outcome.userInfo == [1, 2, 3])
      #expect((try? outcome.result.get())?.text == "taken")
      #expect(!outcome.mayBeRepeated)
    }
    let sent = try #require(fixture.origin.requests.first)
    #expect(fixture.origin.requestCount == 1)
    #expect(sent.header("Idempotency-Key") == ticket.map { "\"\($0.idempotencyKey)\"" })
    #expect(String(decoding: sent.body, as: UTF8.self) == "hello")
    // Taken, so it does not come again
    try await fixture.live { engine in
      try engine.onThawed { _ in journal.add("again") }
      await engine.settle()
    }
    #expect(journal.entries.isEmpty)
  }

  @Test func `an outcome is kept until it is taken`() async throws {
    fixture.origin.stop()
    try await fixture.live { engine in _ = await engine.freeze(engine.letter("/letters")) }
    try fixture.origin.start()
    try await fixture.live { engine in
      #expect(await fixture.origin.waitForRequests(1))
      // Until the store has recorded the outcome
      while !engine.frozenOperations.isEmpty { await engine.settle() }
    }
    try await fixture.live { engine in
      let taken = try await engine.thawed()
      #expect(taken.mayBeRepeated)
      #expect((try? taken.result.get())?.text == "taken")
    }
    #expect(fixture.origin.requestCount == 1)
  }

  @Test func `is sent again after an answer that may pass, and each attempt is told`() async throws {
    fixture.origin.enqueue(.status(503), .status(500), .status(429), .text("taken"), for: "/letters")
    try await fixture.live { engine in
      let told = Journal<String>()
      let operation = engine.letter("/letters").onAttempt { attempts, error in
        let status = error.response?.status ?? 0
        told.add("\(attempts) \(error.code) \(error.reason ?? "") \(error.attempts) \(status)")
      }
      #expect(await engine.end(of: operation).text == "taken")
      #expect(told.entries == ["1 status 503 1 503", "2 status 500 2 500", "3 status 429 3 429"])
      #expect(fixture.origin.requestCount == 4)
      #expect(Set(fixture.origin.requests.map { $0.header("Idempotency-Key") }).count == 1)
      #expect(Set(fixture.origin.requests.map(\.body)).count == 1)
    }
  }

  @Test(arguments: [NetworkError.Code.bodyTooLarge, .decodeFailed])
  func `a request whose answer cannot be kept or read has been taken`(code: NetworkError.Code) async throws {
    let noGzip = Answer.text("this is no gzip").header("Content-Encoding", "gzip")
    fixture.origin.on("/letters", code == .bodyTooLarge ? .pattern(2 << 20) : noGzip)
    try await fixture.live {
      $0.limits.bodyBytesInMemoryMax = 1 << 20
    } _: { engine in
      let error = await engine.end(of: engine.letter("/letters")).error
      #expect(error?.code == code && error?.response?.status == 200 && error?.isRetrySafe == false)
      #expect(await blocking { engine.flushFrozen(deadline: 30) })
      #expect(engine.deadLetters.isEmpty && engine.frozenOperations.isEmpty)
    }
    #expect(fixture.origin.requestCount == 1)
  }

  @Test(arguments: [503, 422])
  func `a page that is too long or cannot be read leaves the word to the status`(status: Int) async throws {
    let noGzip = Answer.text("this is no gzip", status: status).header("Content-Encoding", "gzip")
    let long = Answer.text(String(repeating: "x", count: 2 << 20), status: status)
    try await fixture.live {
      $0.limits.bodyBytesInMemoryMax = 1 << 20
    } _: { engine in
      for page in [long, noGzip] {
        fixture.origin.enqueue(page, for: "/letters")
        let ending = await engine.end(of: engine.letter("/letters"))
        #expect(status == 503 ? ending.text == "taken" : ending.code == .frozenRejected, "\(ending)")
      }
      #expect(fixture.origin.requestCount == (status == 503 ? 4 : 2))
      #expect(engine.deadLetters.allSatisfy { $0.operation?.lastStatus == status })
    }
  }

  @Test func `an informational answer to an attempt is told`() async throws {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    fixture.origin.on("/letters", .raw(hints + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ntaken"))
    try await fixture.live { engine in
      let heard = Journal<Int>()
      let letter = engine.letter("/letters").onInformational { heard.add($0.status) }
      #expect(await engine.end(of: letter).text == "taken")
      #expect(heard.entries == [103])
    }
  }

  @Test func `a clock that is set makes no dead letter`() async throws {
    fixture.origin.enqueue(.status(503), .status(503), .status(503), .text("taken"), for: "/letters")
    let shift = Variable<Microseconds>(0)
    try await withQueue { queue in
      let engine = try NetworkEngine(to: fixture.origin, on: queue)
      try engine.useFreezing(fixture.configuration) {
        ClockMoment(wall: WallClock.microseconds + shift.value, monotonic: BootClock.now, boot: 1)
      }
      let shifts = Variable<[Microseconds]>([-600 * .second, 3 * .day, -30 * .day])
      let operation = engine.letter("/letters").onAttempt { _, _ in shift.value = shifts.value.popLast() ?? 0
      }
      #expect(await engine.end(of: operation).text == "taken")
      #expect(engine.deadLetters.isEmpty && fixture.origin.requestCount == 4)
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
  }

  @Test func `a refusal makes a dead letter`() async throws {
    fixture.origin.on("/letters", .text("no such thing", status: 422))
    try await fixture.live { engine in
      let operation = engine.letter("/letters")
      let ticket = await engine.freeze(operation)
      let error = try #require(await operation.end().error)
      #expect(error.code == .frozenRejected)
      #expect(error.response?.text == "no such thing")
      let letter = try #require(engine.deadLetters.first)
      #expect(letter.id == ticket.id && letter.error.code == .frozenRejected)
      #expect(letter.operation?.lastStatus == 422)
      // The origin was mended
      fixture.origin.on("/letters", .text("taken"))
      try engine.revive(id: ticket.id)
      let outcome = try await engine.thawed()
      #expect((try? outcome.result.get())?.text == "taken")
      #expect(outcome.idempotencyKey == ticket.idempotencyKey)
      #expect(engine.deadLetters.isEmpty)
    }
  }

  @Test func `a delete of what is gone has succeeded`() async throws {
    fixture.origin.on("/letters/1", .status(404))
    try await fixture.live { engine in
      let operation = engine.operation(path: "/letters/1", method: .delete)
      operation.isFreezable = true
      #expect(await engine.end(of: operation).response?.status == 404)
      #expect(engine.deadLetters.isEmpty)
    }
  }

  @Test func `goes in order`() async throws {
    fixture.origin.on(prefix: "/", .text("taken"))
    fixture.origin.enqueue(.status(503), .status(503), for: "/1")
    try await fixture.live { engine in
      let operations = (1...20).map { engine.start(engine.letter("/\($0)")) }
      for operation in operations { #expect(await operation.end().text == "taken") }
      #expect(fixture.origin.requests.map(\.path) == ["/1", "/1"] + (1...20).map { "/\($0)" })
    }
  }

  @Test func `a ticket names the fields that are not on the disk`() async throws {
    try await fixture.live { engine in
      let operation = engine.letter("/letters")
      operation.configure { request in
        for name in ["X-CSRFToken", "DPoP", "Idempotency-Key", "X-Request-Id", "Api_Key"] {
          request.headers.set(name, "value")
        }
      }
      let ticket = await engine.freeze(operation)
      #expect(ticket.withheldFields.sorted() == ["Api_Key", "DPoP", "X-CSRFToken"])
      #expect(ticket.idempotencyKey == "value")
      #expect(await operation.end().text == "taken")
      #expect(fixture.origin.requests.last?.header("DPoP") == "value")
    }
  }

  @Test func `what is to be done once is done once`() async throws {
    fixture.origin.hold("/letters", .text("taken"))
    try await fixture.live { engine in
      let operations = (1...10).map { _ in engine.letter("/letters") }
      for operation in operations { operation.configure { $0.freezing.dedupeKey = "one" } }
      let first = await engine.freeze(operations[0])
      for operation in operations.dropFirst() {
        let ticket = await engine.freeze(operation)
        #expect(ticket.id == first.id && ticket.isDuplicate)
        #expect(ticket.idempotencyKey == first.idempotencyKey)
      }
      fixture.origin.release("/letters")
      for operation in operations { #expect(await operation.end().text == "taken") }
      #expect(fixture.origin.requestCount == 1)
    }
  }

  @Test func `settings of its own count while it lives`() async throws {
    // Given an origin that sends it to another one, which the engine would not
    let other = try ScriptedOrigin(answering: .text("there"))
    fixture.origin.on("/letters", .status(307).header("Location", other.url("/letters")))
    try await fixture.live { engine in
      let letter = engine.letter("/letters").configure { request in
        request.redirects = NetworkRequest.Redirects(resendsBodyAcrossOrigins: true)
        request.priority = .high
      }
      #expect(await engine.end(of: letter).text == "there")
      #expect(await engine.end(of: engine.letter("/letters")).code == .frozenRejected)
    }
    #expect(other.requests.map(\.body) == [Array("hello".utf8)])
  }

  @Test func `its answer is kept for whom the request was`() async throws {
    let answer = Answer.text("kept").header("Cache-Control", "max-age=1000")
    fixture.origin.on("/letters", answer.header("Content-Location", "/letters"))
    try await fixture.live { engine in
      try engine.useCache(CacheConfiguration(directory: fixture.folder.path + "/cache"))
      let letter = engine.letter("/letters").configure { $0.credentialScope = "ann" }
      #expect(await engine.end(of: letter).text == "kept")
      func look(_ scope: String?) async -> Ending {
        await engine.end(
          of: engine.operation(path: "/letters").configure {
            ($0.credentialScope, $0.cachePolicy) = (scope, .onlyIfCached)
          })
      }
      #expect(await look(nil).code == .notCached)
      #expect(await look("ann").text == "kept")
    }
  }

  @Test(arguments: ["X-Request-Id", nil])
  func `a key in the field of the engine's choice is the caller's`(field: String?) async throws {
    let fixture = try FreezingFixture { $0.idempotencyKeyField = field }
    try await fixture.live { engine in
      let letter = engine.letter("/letters").setHeader(field ?? "Idempotency-Key", "mine")
      #expect(await engine.end(of: letter).text == "taken")
    }
    let sent = fixture.origin.requests.map { $0.header(field ?? "Idempotency-Key") }
    #expect(sent == [field == nil ? "mine" : "\"mine\""])
  }

  @Test func `is given up when it is cancelled`() async throws {
    fixture.origin.stop()
    try await fixture.live { engine in
      let first = engine.letter("/letters")
      let second = engine.letter("/letters")
      _ = await engine.freeze(first)
      let ticket = await engine.freeze(second)
      first.cancel()
      #expect(await first.end().code == .cancelled)
      #expect(engine.cancelFrozen(id: ticket.id))
      #expect(await second.end().code == .cancelled)
      #expect(engine.frozenOperations.isEmpty)
      #expect(!engine.cancelFrozen(id: ticket.id))
      #expect(engine.deadLetters.map(\.error.code) == [.cancelled, .cancelled])
      #expect(throws: NetworkError.self) { try engine.revive(id: ticket.id) }
      engine.discardDeadLetter(id: ticket.id)
    }
  }

  @Test func `cancelling all leaves what is frozen`() async throws {
    fixture.origin.hold("/letters", .text("taken"))
    try await fixture.live { engine in
      let operation = engine.letter("/letters")
      _ = await engine.freeze(operation)
      #expect(await fixture.origin.waitForHits("/letters", 1))
      engine.cancelAll()
      fixture.origin.release("/letters")
      #expect(await operation.end().text == "taken")
    }
  }

  @Test func `the queue is idle while it waits`() async throws {
    fixture.origin.stop()
    try await fixture.live { engine in
      let queue = engine.configuration.queue
      let operation = engine.letter("/letters")
      let ticket = await engine.freeze(operation)
      #expect(engine.frozenOperations.map(\.id) == [ticket.id])
      // Before it has been tried for the first time nothing runs either.
      #expect(await until { engine.frozenOperations.first?.lastError != nil })
      #expect(await blocking { queue.drainAndWait(deadline: .patience) })
      #expect(queue.activity.frozen == 1 && !queue.activity.isBusy)
      #expect(operation.state == .frozen)
      try fixture.origin.start()
      #expect(await operation.end().text == "taken")
      #expect(await blocking { queue.drainAndWait(deadline: .patience) })
      #expect(queue.activity.frozen == 0 && engine.frozenOperations.isEmpty)
    }
  }

  @Test func `a queue that stands still sends nothing`() async throws {
    try await fixture.live { engine in
      let queue = engine.configuration.queue
      queue.isSuspended = true
      let operation = engine.letter("/letters")
      _ = await engine.freeze(operation)
      await engine.settle()
      #expect(engine.frozenOperations.map(\.attempts) == [0] && fixture.origin.requestCount == 0)
      queue.isSuspended = false
      #expect(await operation.end().text == "taken")
    }
  }

  @Test func `a task that awaits it hears of the shutdown`() async throws {
    fixture.origin.stop()
    try await withQueue { queue in
      let engine = try fixture.engine(on: queue)
      let operation = engine.letter("/letters")
      let isFrozen = Latch()
      operation.onFrozen { _ in isFrozen.open() }
      let response = Task { try await engine.response(for: operation) }
      await isFrozen.opened()
      await blocking { engine.shutDownAndWait(deadline: .seconds(1)) }
      let error = await #expect(throws: NetworkError.self) { try await response.value }
      #expect(error?.code == .engineClosed && error?.reason == "frozen")
      #expect(operation.state == .frozen)
    }
  }
}
