import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("A handshake through a bad network", .needsNginx)
struct TLSFaultTests {
  enum Fault: CaseIterable, Sendable { case reset, end, silence }

  /// Bytes of the server's part of the handshake that come through: none, some of its first message, most of it.
  @Test(arguments: Fault.allCases, [0, 40, 600])
  func `ends before anything is sent`(_ fault: Fault, _ bytes: Int) async throws {
    let server = try NginxServer.shared()
    let proxy = try FaultProxy(to: Int(server.tlsPort))
    switch fault {
    case .reset: proxy.set(.reset(atByte: bytes), on: .downstream)
    case .end: proxy.set(.limitData(bytes: bytes), on: .downstream)
    case .silence: proxy.set(.slicer(bytes: max(bytes, 1), pause: .seconds(60)), on: .downstream)
    }
    let target = "/hello.txt?handshake-\(fault)-\(bytes)"
    try await withWire {
      $0.tls.caFile = server.authority
      // Only silence is to last until then.
      $0.timeouts.connect = .seconds(fault == .silence ? 0.3 : 10)
    } _: { wire in
      let error = try await wire.failure(
        wire.engine.operation(url: "https://localhost:\(proxy.port)\(target)").setAuthorization("S3CR3T"))
      switch fault {
      // Before the first byte it may be the connection itself that fails, at either address of the name, or what the
      // TLS library makes of it.
      case .reset where bytes == 0, .end:
        #expect([.tlsRejected, .connectFailed].contains(error.code), "\(error)")
      case .reset: #expect(error.code == .connectFailed && error.reason == "reset", "\(error)")
      case .silence: #expect(error.code == .timedOut && error.reason == "connect", "\(error)")
      }
      #expect(error.isRetrySafe)
    }
    #expect(try !server.requests().contains { $0.target == target })
  }

  @Test func `survives slices of a byte`() async throws {
    let server = try NginxServer.shared()
    let proxy = try FaultProxy(to: Int(server.tlsPort))
    for direction in FaultProxy.Direction.allCases { proxy.set(.slicer(bytes: 1), on: direction) }
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      let answer = try await wire.get("https://localhost:\(proxy.port)/hello.txt").get()
      #expect(answer.text == "hello\n" && answer.httpVersion == "HTTP/2")
    }
  }
}
