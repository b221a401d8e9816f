import NetSpool
import Testing

@testable import TestSupport

@Suite("An upload that an HTTP/2 server does not take", .needsPython)
struct HTTP2StalledUploadTests {
  /// In a process of its own, so that nobody else's time counts.
  @Test(.notSanitized(.timeIsNoMeasure))
  func `waits for its window without the processor`() async {
    await #expect(processExitsWith: .success) {
      let server = try HostileServer.sharedHTTP2()
      try await withWire({ ($0.tls.caFile, $0.timeouts.headers) = (server.authority, .seconds(2)) }) { wire in
        // What the first TLS handshake loads is no part of it.
        _ = await wire.result(of: wire.engine.operation(url: server.url("ok")))
        let upload = wire.engine.operation(url: server.url("window_zero"), method: .post)
        upload.setBody(.bytes([UInt8](repeating: 1, count: 100_000)))
        let before = cpuSeconds()
        let error = try await wire.failure(upload)
        #expect(error.code == .timedOut, "\(error)")
        let spent = cpuSeconds() - before
        #expect(spent < 0.2, "\(spent) of 2 seconds")
      }
      server.stop()
    }
  }
}
