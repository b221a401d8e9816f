import NetSpool
import Testing

@testable import TestSupport

@Suite("Against Apache httpd", .needsApache, .ownThreads)
struct ApacheTests {
  private let server: ApacheServer

  init() throws { server = try ApacheServer.shared() }

  // MARK: The part itself

  @Test func `goes with its last reference`() throws {
    var server: ApacheServer? = try ApacheServer()
    let port = try #require(server).port
    server = nil
    #expect(throws: PartFailure.self) { try LocalSocket.connected(to: port) }
  }

  // MARK: The engine with it

  @Test func `answers its digest challenge once`() async throws {
    try await withWire { wire in
      for path in ["/digest/hello.txt?once=1", "/digest/hello.txt?once=2"] {
        let operation = wire.engine.operation(url: server.url(path))
          .setCredentials(.digest(user: "user", password: "secret"))
        #expect(try await wire.answer(operation).text == "hello\n")
      }
      // One refusal for both, all on one connection.
      let logged = try server.requests("once", count: 3)
      #expect(logged.map(\.status) == [401, 200, 200] && logged.map(\.user) == [nil, "user", "user"])
      #expect(Set(logged.map(\.clientPort)).count == 1)
    }
  }

  @Test func `is answered again when its nonce went stale`() async throws {
    try await withWire { wire in
      for _ in 0..<2 {
        let operation = wire.engine.operation(url: server.url("/stale/hello.txt?engine"))
          .setCredentials(.digest(user: "user", password: "secret"))
        #expect(try await wire.answer(operation).text == "hello\n")
      }
      let logged = try server.requests("?engine", count: 4)
      #expect(logged.map(\.status) == [401, 200, 401, 200])
    }
  }

  /// Where it is offered Digest is what a password is for, and Basic where only that is.
  @Test(arguments: ["/digest/hello.txt?either", "/basic/hello.txt?either"])
  func `takes a password as the server wants`(_ path: String) async throws {
    try await withWire { wire in
      func operation(_ password: String) -> NetworkOperation {
        wire.engine.operation(url: server.url(path))
          .setCredentials(.password(user: "user", password: password))
      }
      #expect(try await wire.answer(operation("secret")).text == "hello\n")
      let error = try await wire.failure(operation("wrong"))
      #expect(error.code == .authenticationFailed && error.response?.status == 401, "\(error)")
      let logged = try server.requests(path, count: 4)
      #expect(logged.map(\.status) == [401, 200, 401, 401])
    }
  }

  @Test func `makes collections and puts and lists them`() async throws {
    let url = server.url("/dav/new/")
    try await withWire { wire in
      #expect(try await wire.answer(wire.engine.operation(url: url, method: "MKCOL")).status == 201)
      let put = wire.engine.operation(url: url + "note", method: .put).setBody(.bytes(Array("note".utf8)))
      #expect(try await wire.answer(put).status == 201)
      #expect(try await wire.answer(wire.engine.operation(url: url + "note")).text == "note")
      // A 207 is a completion, whatever is in it.
      let list = wire.engine.operation(url: url, method: "PROPFIND").setHeader("Depth", "1")
      let listed = try await wire.answer(list)
      #expect(listed.status == 207 && listed.text?.contains("/dav/new/note") == true)
      let again = try await wire.failure(wire.engine.operation(url: url, method: "MKCOL"))
      #expect(again.code == .status && again.response?.status == 405)
    }
  }

  @Test func `is told what is locked`() async throws {
    let url = server.url("/dav/locked")
    try await withWire { wire in
      func put(_ token: String? = nil) -> NetworkOperation {
        let operation = wire.engine.operation(url: url, method: .put).setBody(.bytes([1]))
        if let token { operation.setHeader("If", "(\(token))") }
        return operation
      }
      _ = try await wire.answer(put())
      let wanted = """
        <?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>\
        <locktype><write/></locktype></lockinfo>
        """
      let lock = wire.engine.operation(url: url, method: "LOCK").setBody(.bytes(Array(wanted.utf8)))
      let token = try #require(try await wire.answer(lock).headers["Lock-Token"])
      let error = try await wire.failure(put())
      #expect(error.code == .status && error.response?.status == 423)
      #expect(try await wire.answer(put(token)).status == 204)
    }
  }

  @Test func `is told when the disk is full`() async throws {
    try await withWire { wire in
      let put = wire.engine.operation(url: server.url("/full/large"), method: .put)
        .setBody(.bytes([UInt8](repeating: 1, count: 2 << 20)))
      let error = try await wire.failure(put)
      #expect(error.code == .status && error.response?.status == 507)
    }
  }
}
