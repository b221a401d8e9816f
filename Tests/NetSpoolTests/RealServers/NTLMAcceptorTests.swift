import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite(
  "NTLM against an acceptor", .needsPython, .ownThreads,
  .enabled(if: LoadedCurl.hasNTLM, "libcurl is built without NTLM"))
struct NTLMAcceptorTests {
  private let server: CredentialServer

  init() throws { server = try CredentialServer() }

  static let user = NetworkCredentials.ntlm(user: "TESTS\\user", password: "secret")
  static let other = NetworkCredentials.ntlm(user: "TESTS\\other", password: "password")

  @Test(arguments: ["TESTS\\user", "user"]) func `knows who it is`(_ name: String) async throws {
    try await withWire { wire in
      let operation = wire.engine.operation(url: server.url("/ntlm/a"))
        .setCredentials(.ntlm(user: name, password: "secret"))
      #expect(await wire.result(of: operation).text == "user=user body=none\n")
      let logged = server.requests()
      #expect(logged.map(\.status) == [401, 200] && logged.map(\.scheme) == ["NTLM", "NTLM"])
      #expect(logged.map(\.connection) == [1, 1])
    }
  }

  @Test(arguments: ["/ntlm/a", "/ntlm/forever/a"]) func `gives 401 one handshake`(_ path: String) async throws
  {
    try await withWire { wire in
      let password = path == "/ntlm/a" ? "wr0ng" : "secret"
      let operation = wire.engine.operation(url: server.url(path))
        .setCredentials(.ntlm(user: "TESTS\\user", password: password))
      let error = try await wire.failure(operation)
      #expect(error.code == .authenticationFailed && error.response?.status == 401, "\(error)")
      #expect(!"\(error)".contains("wr0ng"))
      #expect(server.requests().map(\.status) == [401, 401])
    }
  }

  /// The connection was signed in, and nobody else, not even the same user, comes over it.
  @Test func `leaves its connection to no other`() async throws {
    let url = server.url("/ntlm/a")
    try await withWire { wire in
      for credentials in [Self.user, Self.user, Self.other] {
        _ = try await wire.answer(wire.engine.operation(url: url).setCredentials(credentials))
      }
      #expect(await wire.get(url).error?.response?.status == 401)
      let logged = server.requests()
      #expect(logged.map(\.user) == [nil, "user", nil, "user", nil, "other", nil])
      #expect(logged.map(\.connection) == [1, 1, 2, 2, 3, 3, 4])
    }
  }

  @Test func `keeps many users apart at once`() async throws {
    try await withWire { wire in
      let operations = (0..<40).map { number in
        wire.engine.operation(url: server.url("/ntlm/\(number)"))
          .setCredentials(number % 2 == 0 ? Self.user : Self.other)
      }
      for (number, ending) in await wire.engine.enqueue(operations).results.enumerated() {
        #expect(ending.text == "user=\(number % 2 == 0 ? "user" : "other") body=none\n", "\(ending)")
      }
      for requests in Dictionary(grouping: server.requests(), by: \.connection).values {
        #expect(requests.map(\.status) == [401, 200])
      }
    }
  }

  enum Upload: String, CaseIterable, Sendable { case bytes, file, stream }

  @Test(arguments: Upload.allCases, ["POST", "PUT"])
  func `sends the body with the last message`(_ kind: Upload, _ method: String) async throws {
    let folder = try TestFolder()
    let bytes = BodyPattern.bytes(300_000)
    let file = try folder.write("body", bytes)
    let sum = try ChildProcess.run(["sha256sum", file]).output.prefix(64)
    try await withWire { wire in
      let operation = wire.engine.operation(url: server.url("/ntlm/a"), method: NetworkRequest.Method(method))
        .setCredentials(Self.user)
      switch kind {
      case .bytes: operation.setBody(.bytes(bytes))
      case .file: operation.setBody(.file(file))
      case .stream: operation.setUploadStream(ScriptedUpload([.bytes(bytes)], length: Int64(bytes.count)))
      }
      let answer = try await wire.answer(operation)
      #expect(answer.text == "user=user body=\(String(decoding: sum, as: UTF8.self))\n")
      #expect(server.requests().map(\.bodyBytes) == [0, bytes.count])
    }
  }

  @Test func `ends when the connection does between the legs`() async throws {
    try await withWire { wire in
      let operation = wire.engine.operation(url: server.url("/ntlm/cut/a")).setCredentials(Self.user)
      let error = try await wire.failure(operation)
      #expect(error.code == .authenticationFailed || error.code == .connectionLost, "\(error)")
      #expect(!server.requests().contains { $0.status == 200 } && server.requests().count <= 3)
    }
  }
}
