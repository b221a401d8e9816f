import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Where the authorities stand that a certificate may come from.
@Suite("Trust", .ownThreads)
struct TrustStoreTests {
  @Test func `goes by the caller's files alone, then by the environment's, then by the system's`() {
    let both = { (name: String) -> String? in ["SSL_CERT_FILE": "/f", "SSL_CERT_DIR": "/d"][name] }
    let folder = { (name: String) -> String? in ["SSL_CERT_DIR": "/d"][name] }
    let none = { (_: String) -> String? in nil }
    #expect(TrustStore(bundle: "/a", folder: nil, environment: both) == .files(bundle: "/a", folder: nil))
    #expect(TrustStore(bundle: nil, folder: "/b", environment: both) == .files(bundle: nil, folder: "/b"))
    #expect(TrustStore(bundle: nil, folder: nil, environment: both) == .files(bundle: "/f", folder: nil))
    #expect(TrustStore(bundle: nil, folder: nil, environment: folder) == .files(bundle: nil, folder: "/d"))
    #expect(TrustStore(bundle: nil, folder: nil, environment: none) == .system)
  }

  @Test func `is refused where it is a pipe or of another kind, whatever has named it`() throws {
    let folder = try TestFolder()
    let pipe = folder.path + "/pipe"
    let made = unsafe mkfifo(pipe, 0o600)
    try #require(made == 0)
    let environment = { (name: String) -> String? in name == "SSL_CERT_FILE" ? pipe : nil }
    #expect(TrustStore(bundle: nil, folder: nil, environment: environment).firstUnfit == .bundle)
    #expect(TrustStore(bundle: folder.path, folder: nil, environment: environment).firstUnfit == .bundle)
    #expect(TrustStore(bundle: nil, folder: pipe, environment: environment).firstUnfit == .folder)
    let missing = folder.path + "/none"
    #expect(TrustStore(bundle: missing, folder: folder.path, environment: environment).firstUnfit == nil)
  }

  /// A folder by hashes, as openssl-rehash(1) makes it.
  private static func hashedFolder(_ authority: String) throws -> TestFolder {
    let folder = try TestFolder()
    let script = "cp \"$1\" \"$2/ca.pem\" && ln -s ca.pem \"$2/$(openssl x509 -hash -noout -in \"$1\").0\""
    let result = try ChildProcess.run(["sh", "-c", script, "sh", authority, folder.path])
    guard result.exit == .status(0) else { throw PartFailure("no hash of \(authority)") }
    return folder
  }

  @Test(.needsNginx) func `takes a folder where it is named, and nothing beside a bundle that is named`()
    async throws
  {
    let server = try await blocking { try NginxServer.shared() }
    let folder = try await blocking { try Self.hashedFolder(server.certificates.authority) }
    try await withWire({ $0.tls.caPath = folder.path }) { wire in
      let answer = try await wire.answer(wire.engine.operation(url: server.tlsURL("/hello.txt")))
      #expect(answer.text == "hello\n")
    }
    // The folder's authority counts no more where another is named: here the server's own certificate, which is none
    try await withWire({ $0.tls.caFile = server.certificates.directory + "/client-with-key.pem" }) { wire in
      let error = try await wire.failure(wire.engine.operation(url: server.tlsURL("/hello.txt")))
      #expect(error.code == .tlsRejected && error.reason == "untrusted", "\(error)")
    }
  }

  /// In a process whose environment names a folder with the server's authority.
  @Test(.needsNginx) func `of an engine counts instead of the system's`() async throws {
    await #expect(processExitsWith: .success) {
      let server = try NginxServer()
      let folder = try TrustStoreTests.hashedFolder(server.certificates.authority)
      _ = unsafe (setenv("SSL_CERT_DIR", folder.path, 1), unsetenv("SSL_CERT_FILE"))
      try await withWire { wire in
        let answer = try await wire.answer(wire.engine.operation(url: server.tlsURL("/hello.txt")))
        #expect(answer.text == "hello\n")
      }
      let other = try ScriptedOrigin(tls: .selfSigned)
      other.fallback(.text("other"))
      let bundle = try folder.write("other.pem", Array((other.certificateAuthority ?? "").utf8))
      try await withWire({ $0.tls.caFile = bundle }) { wire in
        let error = try await wire.failure(wire.engine.operation(url: server.tlsURL("/hello.txt")))
        #expect(error.code == .tlsRejected && error.reason == "untrusted", "\(error)")
        #expect(try await wire.answer(wire.engine.operation(url: other.url("/"))).text == "other")
      }
      server.stop()
    }
  }

  @Test(.needsNginx) func `is refused with a word of its own where it cannot be read`() async throws {
    let server = try await blocking { try NginxServer.shared() }
    try await withWire({ $0.tls.caFile = "/nowhere/at/all.pem" }) { wire in
      let error = try await wire.failure(wire.engine.operation(url: server.tlsURL("/hello.txt")))
      #expect(error.code == .tlsRejected && error.reason == "trustStore", "\(error)")
    }
  }

  /// The system's authorities are read once and not for each connection: that would be 50 ms of the loop.
  @Test(.needsNginx, .notSanitized(.timeIsNoMeasure))
  func `costs a new connection little`() async throws {
    let server = try await blocking { try NginxServer.shared() }
    try await withWire({ $0.retry = .none }, alone: true) { wire in
      let clock = await LoopClock(wire.queue)
      // Given the system's authorities, which have not signed this
      _ = try await wire.failure(wire.engine.operation(url: server.tlsURL("/hello.txt")))
      let start = clock.now
      for _ in 0..<20 {
        let error = try await wire.failure(wire.engine.operation(url: server.tlsURL("/hello.txt")))
        #expect(error.code == .tlsRejected)
      }
      expect(clock.now - start, within: .milliseconds(20 * 8))
    }
  }

  /// libcurl keeps no authorities for those that verify nothing.
  @Test(.needsPython, .notSanitized(.timeIsNoMeasure))
  func `costs a new connection nothing where anybody is trusted`() async throws {
    let server = try await blocking { try HostileServer(.http1) }
    defer { server.stop() }
    let names = (0..<20).map { "name\($0).test" }
    try await withWire(
      {
        $0.tls.unsafelyTrustsAnyCertificate = true
        $0.resolve = Dictionary(uniqueKeysWithValues: names.map { ($0, ["127.0.0.1"]) })
      }, alone: true
    ) { wire in
      let clock = await LoopClock(wire.queue)
      let start = clock.now
      for name in names {
        let url = server.url("tls_ok").replacing("localhost", with: name)
        let answer = try await wire.answer(wire.engine.operation(url: url))
        #expect(answer.text == "ok")
      }
      expect(clock.now - start, within: .milliseconds(20 * 8))
    }
  }
}
