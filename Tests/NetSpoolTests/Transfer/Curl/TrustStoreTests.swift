import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Where the authorities stand that a certificate may come from.
@Suite("Trust", .ownThreads, .measured)
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
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
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

  @Test(.needsNginx)
  func `takes a folder where it is named, and nothing beside a bundle that is named`() async throws {
    let server = try await blocking { try NginxServer.shared() }
    let folder = try await blocking { try Self.hashedFolder(server.certificates.authority) }
    try await withWire({ $0.tls.caPath = folder.path }) { wire in
      #expect(await wire.get(server.tlsURL("/hello.txt")).text == "hello\n")
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
        #expect(await wire.get(server.tlsURL("/hello.txt")).text == "hello\n")
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
    let folder = try TestFolder()
    for file in ["/nowhere/at/all.pem", try folder.write("empty.pem", [])] {
      try await withWire({ $0.tls.caFile = file }) { wire in
        let secret = wire.engine.operation(url: server.tlsURL("/hello.txt?unread")).setAuthorization("S3CR3T")
        let error = try await wire.failure(secret)
        #expect(error.code == .tlsRejected && error.reason == "trustStore" && error.isRetrySafe, "\(error)")
      }
    }
    #expect(try !server.requests().contains { $0.target.hasSuffix("?unread") })
    // Where anybody is believed there is nothing to read.
    try await withWire({
      $0.tls.caFile = "/nowhere/at/all.pem"
      $0.tls.unsafelyTrustsAnyCertificate = true
    }) { wire in
      #expect(await wire.get(server.tlsURL("/hello.txt")).text == "hello\n")
    }
  }

  /// libcurl would read it once on each loop.
  @Test(.needsNginx) func `is read once in the process, whatever loops there are`() async throws {
    let server = try await blocking { try NginxServer.shared() }
    let folder = try TestFolder()
    let bundle = try folder.write("ca.pem", TestFiles.read(server.certificates.authority))
    let engines = try (0..<3).map { _ in try NetworkEngine(on: NetworkQueue()) { $0.tls.caFile = bundle } }
    let opened = try OpenedFile(bundle)
    // When the engines are made, and never again.
    await withTaskGroup(of: String?.self) { group in
      for engine in engines + engines {
        group.addTask {
          try? await engine.response(for: NetworkRequest(url: server.tlsURL("/hello.txt"))).text
        }
      }
      for await text in group { #expect(text == "hello\n") }
    }
    #expect(opened.count == 0)
  }

  @Test func `all that wait for it are told, also those that come late to another's look`() async throws {
    let certificate = try #require(ScriptedOrigin(tls: .selfSigned).certificateAuthority)
    let authorities = Authorities(Array(certificate.utf8))
    let told = Journal<Int>()
    for (count, all) in [(1, 1), (100, 101)] {
      for number in 0..<count { authorities.prepare { told.add(number) } }
      #expect(await until { told.entries.count == all })
      #expect(authorities.areReady(now: MonotonicClock.now))
    }
  }

  @Test func `counts with what it holds when the engine is made`() async throws {
    let (one, other) = (try ScriptedOrigin(tls: .selfSigned), try ScriptedOrigin(tls: .selfSigned))
    let folder = try TestFolder()
    let bundle = try folder.write("ca.pem", one.certificateAuthority ?? "")
    for origin in [one, other] { origin.fallback(.text("hello")) }
    var status = stat()
    _ = unsafe stat(bundle, &status)
    func engine() throws -> NetworkEngine { try NetworkEngine(on: .shared) { $0.tls.caFile = bundle } }
    func text(_ engine: NetworkEngine, _ origin: ScriptedOrigin) async -> String? {
      try? await engine.response(for: NetworkRequest(url: origin.url("/"))).text
    }
    let first = try engine()
    // Written anew in its place, as old as it was.
    _ = try folder.write("ca.pem", other.certificateAuthority ?? "")
    var times = [status.st_atim, status.st_mtim]
    try #require(unsafe utimensat(AT_FDCWD, bundle, &times, 0) == 0)
    let second = try engine()
    #expect(await text(first, one) == "hello")
    #expect(await text(first, other) == nil)
    #expect(await text(second, other) == "hello")
    #expect(await text(second, one) == nil)
    let authorities = Authorities.of(.files(bundle: bundle, folder: nil))
    #expect(authorities.digest == second.handleSettings.tls.authorities?.digest)
  }

  @Test func `of a folder is what has a certificate's name there, and nothing else`() throws {
    let folder = try TestFolder()
    func digest() -> String { Authorities.of(.files(bundle: nil, folder: folder.path)).digest }
    _ = try folder.write("1a2b3c4d.0", "one")
    let one = digest()
    for name in ["1a2b3c4d", "1a2b3c4d.0.bak", "1a2b3c4.0", "1a2b3c4dd.0", "notahash.0", "README"] {
      _ = try folder.write(name, "other")
    }
    #expect(digest() == one)
    _ = try folder.write("5e6f7a8b.r0", "two")
    #expect(digest() != one)
  }

  @Test func `that is a pipe in a folder is waited for by none`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    let folder = try TestFolder()
    try #require(unsafe mkfifo(folder["12345678.0"], 0o600) == 0)
    let engine = try NetworkEngine(on: .shared) { $0.tls.caPath = folder.path }
    let error = await #expect(throws: NetworkError.self) {
      _ = try await engine.response(for: NetworkRequest(url: origin.url("/")))
    }
    #expect(error?.cause == .trustStore)
  }

  @Test func `of a user is read once, and what has none is not read again`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    for (text, isGood) in [(origin.certificateAuthority ?? "", true), ("garbage", false), ("", false)] {
      let authorities = Authorities(Array(text.utf8))
      #expect(!authorities.areReady(now: MonotonicClock.now))
      await withCheckedContinuation { continuation in authorities.prepare { continuation.resume() } }
      #expect(authorities.areReady(now: MonotonicClock.now + 90_000_000_000), "\(isGood)")
    }
  }

  @Test func `that has refused an origin three times is not asked again for a second`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    origin.fallback(.text("hello"))
    try await withWire { wire in
      for _ in 0..<20 {
        let error = try await wire.failure(wire.engine.operation(url: origin.url("/a")))
        #expect(error.code == .tlsRejected && error.cause == .untrusted && error.url == origin.url("/a"))
        #expect(error.sendState == .notSent)
      }
      let count = origin.connectionCount
      #expect((3..<20).contains(count) && origin.requestCount == 0)
      // Another engine trusts others.
      var configuration = wire.engine.configuration
      configuration.tls.unsafelyTrustsAnyCertificate = true
      let other = try NetworkEngine(configuration: configuration)
      #expect(try await other.response(for: NetworkRequest(url: origin.url("/a"))).text == "hello")
      // This one looks again.
      #expect(
        await until {
          _ = try? await wire.engine.response(for: NetworkRequest(url: origin.url("/a")))
          return origin.connectionCount > count + 1
        })
    }
  }

  @Test func `that has refused an origin remembers it for its engine, until one does well`() {
    let refused = NetworkError(.tlsRejected, cause: .untrusted)
    var proof = RefusedProof()
    for _ in 0..<2 { proof.note(refused, by: 1, now: 0) }
    proof.note(NetworkError(.tlsRejected, cause: .clientCertificate), by: 1, now: 0)
    #expect(proof.failure(for: 1, now: 1) == nil)
    proof.note(refused, by: 1, now: 0)
    #expect(proof.failure(for: 1, now: 999_999)?.cause == .untrusted)
    #expect(proof.failure(for: 1, now: 1_000_000) == nil && proof.failure(for: 2, now: 1) == nil)
    proof.note(refused, by: 1, now: 2_000_000)
    #expect(proof.failure(for: 1, now: 2_000_001) != nil)
    proof.note(nil, by: 1, now: 2_000_000)
    #expect(proof.failure(for: 1, now: 2_000_001) == nil)
    proof.note(refused, by: 1, now: 2_000_002)
    #expect(proof.failure(for: 1, now: 2_000_003) == nil)
  }

  /// An origin may have refused the certificate that one of them has shown.
  @Test func `that has refused an origin for one account tries it for another`() {
    let refused = NetworkError(.tlsRejected, cause: .untrusted)
    var proof = RefusedProof()
    for _ in 0..<3 { proof.note(refused, by: 1, as: 7, now: 0) }
    #expect(proof.failure(for: 1, as: 7, now: 1) != nil)
    #expect(proof.failure(for: 1, as: 8, now: 1) == nil && proof.failure(for: 1, now: 1) == nil)
    proof.note(nil, by: 1, as: 8, now: 1)
    #expect(proof.failure(for: 1, as: 7, now: 1) != nil)
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
        #expect(await wire.get(server.url("tls_ok").replacing("localhost", with: name)).text == "ok")
      }
      expect(clock.now - start, within: .milliseconds(20 * 8))
    }
  }
}

/// How often a file is opened, as the system tells (inotify(7)).
@safe
private final class OpenedFile: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
    guard descriptor >= 0, unsafe inotify_add_watch(descriptor, path, UInt32(IN_OPEN)) >= 0 else {
      throw PartFailure("no watch for \(path)")
    }
  }

  deinit { close(descriptor) }

  /// Each event has 16 bytes, and no name.
  var count: Int {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let length = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return max(0, length) / 16
  }
}
