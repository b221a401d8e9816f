import NetSpool
import Testing

@testable import TestSupport

@Suite("Against nginx", .needsNginx)
struct NginxTests {
  private let server: NginxServer

  init() throws { server = try NginxServer.shared() }

  @Test func `unpacks gzip`() async throws {
    try await withWire { wire in
      let answer = try await wire.answer(wire.engine.operation(url: server.url("/text.txt")))
      #expect(answer.headers["Content-Encoding"] == "gzip")
      let text = String(repeating: "NetSpool sends them well and keeps what came back.\n", count: 1_000)
      #expect(answer.text == text)
      #expect(answer.metrics.bytesReceived < 5_000)
    }
  }

  @Test func `uses its connection again`() async throws {
    try await withWire { wire in
      for index in 0..<20 {
        let answer = try await wire.answer(wire.engine.operation(url: server.url("/8k.bin?again")))
        #expect([UInt8](answer.body) == TestFiles.noise(8_192) && answer.httpVersion == "HTTP/1.1")
        #expect(answer.metrics.connectionReused == (index > 0))
      }
      let logged = try server.requests().filter { $0.target.hasSuffix("?again") }
      #expect(Set(logged.map(\.connection)).count == 1 && logged.map(\.numberOnConnection) == Array(1...20))
    }
  }

  @Test func `fetches a thousand small files at once`() async throws {
    for index in 0..<1_000 { try server.addFile("small\(index)", Self.content(index)) }
    try await withWire { wire in
      let operations = (0..<1_000).map { wire.engine.operation(url: server.url("/small\($0)")) }
      let results = await wire.engine.enqueue(operations).results
      for (index, result) in results.enumerated() {
        let body = try result.get().body
        #expect([UInt8](body) == Self.content(index))
      }
      #expect(results.count == 1_000)
    }
    let logged = try server.requests().filter { $0.target.hasPrefix("/small") }
    #expect(logged.count == 1_000 && Set(logged.map(\.connection)).count <= 64)
  }

  /// Another one, and another length, for each number.
  private static func content(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 700 + number) + Array("\(number)".utf8)
  }

  @Test func `keeps what was put`() async throws {
    let folder = try TestFolder()
    // 64 MiB: the same again and again, so that making it takes no time.
    var bytes = TestFiles.noise(65_521)
    while bytes.count < 64 << 20 { bytes += bytes }
    let path = try folder.write("a", bytes)
    try await withWire { wire in
      let put = wire.engine.operation(url: server.url("/upload/large"), method: .put).setBody(.file(path))
      #expect([201, 204].contains(try await wire.answer(put).status))
      let back = FileDownloadStream(path: folder["b"])
      _ = try await wire.answer(
        wire.engine.operation(url: server.url("/upload/large")).addDownloadStream(back))
    }
    #expect(try ChildProcess.run(["cmp", path, folder["b"]]).exit == .status(0))
  }

  @Test func `refuses connections and leaves no files once stopped`() throws {
    let server = try NginxServer()
    let port = server.port
    _ = try server.requests()
    server.stop()
    #expect(throws: PartFailure.self) { try LocalSocket.connected(to: port) }
    #expect(throws: PartFailure.self) { try server.file("hello.txt") }
  }
}
