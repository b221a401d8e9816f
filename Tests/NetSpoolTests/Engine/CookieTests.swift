import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Cookies")
struct CookieTests {
  static func bake(_ origin: ScriptedOrigin) {
    origin.on("/set", Answer.text("set").header("Set-Cookie", "id=1; Path=/"))
    origin.on("/step", Answer.redirect(to: "/see").header("Set-Cookie", "step=2; Path=/"))
    origin.fallback { .text($0.header("Cookie") ?? "none") }
  }

  /// An engine that has been given a cookie.
  private func withJar(_ body: (NetworkEngine, ScriptedOrigin) async throws -> Void) async throws {
    try await withEngine({ $0.cookies = .inMemory }) { engine, origin in
      Self.bake(origin)
      _ = await engine.get("/set").end()
      try await body(engine, origin)
    }
  }

  @Test func `are not kept unless asked for`() async throws {
    try await withEngine { engine, origin in
      Self.bake(origin)
      _ = await engine.get("/set").end()
      #expect(await engine.get("/see").end().text == "none")
    }
  }

  @Test func `go back where they came from`() async throws {
    try await withJar { engine, origin in
      let same = await engine.get("/see").end()
      let step = await engine.get("/step").end()
      let other = await engine.end(of: engine.operation(url: origin.url("/see", host: "localhost")))
      #expect(same.text == "id=1" && other.text == "none")
      #expect(step.text?.contains("step=2") == true && step.text?.contains("id=1") == true)
    }
  }

  @Test(arguments: [NetworkEngine.Cookies.inMemory, .none])
  func `make the same URL another question behind a redirect`(_ cookies: NetworkEngine.Cookies) async throws {
    try await withEngine({ $0.cookies = cookies }) { engine, origin in
      let step = Answer.redirect(to: "/login").header("Set-Cookie", "seen=1; Path=/")
      origin.on("/login") { $0.header("Cookie") == nil ? step : .text("welcome") }
      let ending = await engine.get("/login").end()
      #expect(cookies == .none ? ending.code == .redirectCycle : ending.text == "welcome")
      // But not for ever
      origin.on("/login", step)
      let last = await engine.get("/login").end()
      #expect(last.code == (cookies == .none ? .redirectCycle : .tooManyRedirects))
    }
  }

  @Test(arguments: [false, true]) func `meet those of the caller in one field`(ofEngine: Bool) async throws {
    try await withEngine {
      $0.cookies = .inMemory
      if ofEngine { $0.headers = ["cookie": "own=2"] }
    } _: { engine, origin in
      Self.bake(origin)
      _ = await engine.get("/set").end()
      let operation = engine.operation(path: "/see?1")
      if !ofEngine { operation.setHeader("Cookie", "own=2").addHeader("Cookie", "third=3") }
      _ = await engine.end(of: operation)
      _ = await engine.get("/see?2").end()
      let sent = origin.requests.dropFirst().map { $0.headers.all("Cookie") }
      let expected =
        ofEngine ? [["id=1; own=2"], ["id=1; own=2"]] : [["id=1; own=2; third=3"], ["id=1"]]
      #expect(Array(sent) == expected)
    }
  }

  @Test func `belong to one engine, and stay while many others come`() async throws {
    try await withJar { engine, origin in
      // More than there are pools of connections
      for number in 0..<40 {
        let other = try NetworkEngine(to: origin, on: engine.configuration.queue) {
          $0.cookies = number % 2 == 0 ? .inMemory : .none
        }
        #expect(await other.get("/see").end().text == "none")
      }
      #expect(await engine.get("/see").end().text == "id=1")
    }
  }

  @Test func `are forgotten when told so`() async throws {
    try await withJar { engine, origin in
      engine.removeCookies()
      #expect(await engine.get("/see").end().text == "none")
    }
  }

  @Test func `are in no file once their origin has deleted them`() async throws {
    try await withJar { engine, origin in
      origin.on("/leave", Answer.text("bye").header("Set-Cookie", "id=secret; Max-Age=0; Path=/"))
      _ = await engine.get("/leave").end()
      #expect(engine.cookieLines == [])
    }
  }

  @Test func `go to a file and come back`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/cookies.txt"
    try await withJar { engine, origin in
      try await engine.exportCookies(to: path)
      #expect(try FileStatus(path: path).permissions == 0o600)
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue) { $0.cookies = .inMemory }
      try await other.importCookies(from: path)
      #expect(await other.get("/see").end().text == "id=1")
      let plain = try NetworkEngine(to: origin, on: engine.configuration.queue)
      await #expect(throws: NetworkError.self) { try await plain.exportCookies(to: path) }
      await #expect(throws: NetworkError.self) { try await other.importCookies(from: path + "-none") }
      await #expect(throws: NetworkError.self) { try await other.exportCookies(to: "/nowhere/cookies") }
    }
  }

  /// libcurl compares each with all others of its host, on the loop thread.
  @Test func `are no more than browsers keep`() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/cookies.txt"
    try await withEngine({ $0.cookies = .inMemory }) { engine, _ in
      for (count, isTaken) in [(3_000, true), (3_001, false)] {
        let lines = (0..<count).map { "127.0.0.1\tFALSE\t/\tFALSE\t0\tname\($0)\tvalue\n" }
        try CookieFile.write(Array(lines.joined().utf8), to: path)
        do throws(any Error) { try await engine.importCookies(from: path) } catch {
          #expect((error as? NetworkError)?.code == .uploadSourceFailed && !isTaken)
          continue
        }
        #expect(isTaken)
      }
      #expect(engine.cookieLines.count == 3_000)
    }
  }

  @Test func `of an origin that sets them without end are few`() async throws {
    try await withEngine({ $0.cookies = .inMemory }) { engine, origin in
      origin.on("/set") { request in
        let first = Int(request.query ?? "") ?? 0
        return (first..<first + 50).reduce(Answer.text("set")) { $0.header("Set-Cookie", "c\($1)=v; Path=/") }
      }
      origin.on("/see") { .text($0.header("Cookie") ?? "none") }
      for round in 0..<12 { _ = await engine.get("/set?\(round * 50)").end() }
      let names = engine.cookieLines.map { $0.split(separator: "\t")[5] }
      #expect((150...180).contains(names.count), "\(names.count)")
      #expect(names.contains("c599") && !names.contains("c0"))
      // And those are what is sent.
      #expect(await engine.get("/see").end().text?.contains("c599=v") == true)
    }
  }

  @Test func `a trailing dot is refused`() async throws {
    try await withEngine({ $0.cookies = .inMemory }) { engine, origin in
      let ending = await engine.end(of: engine.operation(url: origin.url("/set", host: "localhost.")))
      #expect(ending.code == .invalidURL && ending.reason == "trailing dot" && origin.requestCount == 0)
    }
  }
}
