import NetSpool
import Testing

@testable import TestSupport

@Suite("Memory under a hostile HTTP/2 server", .needsPython)
struct HTTP2MemoryTests {
  private static let names = [
    "settings_flood", "ping_flood", "priority_flood", "window_update_flood", "empty_data_flood",
    "unknown_flood", "rst_flood", "push_flood", "continuation_flood", "hpack_bomb", "fields_many",
    "informational_endless", "trailers_long", "one_byte_frames", "body_endless",
  ]

  /// What the origin may send before anybody takes it is libcurl's choice: 32 MiB with 7.88, less since.
  @Test(.notSanitized(.memoryIsNoMeasure))
  func `a paused download keeps what libcurl asks for, and gives it back`() async {
    await #expect(processExitsWith: .success) {
      let server = try HostileServer.sharedHTTP2()
      try await withWire({ $0.tls.caFile = server.authority }) { wire in
        func goRound() async { _ = await wire.get(server.url("ok")) }
        await goRound()
        // Given one whose stream takes nothing
        MemoryUse.forgetPeak()
        let before = MemoryUse.resident
        let operation = wire.engine.operation(url: server.url("body_endless"))
          .addDownloadStream(ClosureDownloadStream { _ in .pause })
        wire.engine.enqueue(operation)
        // When nothing more comes
        var (most, still) = (0, 0)
        while still < 100 {
          await goRound()
          let now = MemoryUse.resident
          (most, still) = now > most ? (now, 0) : (most, still + 1)
        }
        #expect(MemoryUse.peak - before <= 36 << 20, "\((MemoryUse.peak - before) >> 10) KiB")
        operation.cancel()
        _ = await operation.end()
        // Then it is all given back
        let isBack = await until { MemoryUse.resident - before <= 4 << 20 }
        #expect(isBack, "\((MemoryUse.resident - before) >> 10) KiB")
      }
      server.stop()
    }
  }

  /// In a process of its own, one after the other, so that nothing else counts.
  @Test(.notSanitized(.memoryIsNoMeasure))
  func `stays within eight mebibytes`() async {
    await #expect(processExitsWith: .success) {
      let server = try HostileServer.sharedHTTP2()
      try await withWire { configuration in
        configuration.tls.caFile = server.authority
        configuration.limits.bodyBytesInMemoryMax = 4 << 20
        configuration.queue.sizing = .fixed(1)
      } _: { wire in
        // What the first TLS handshake loads is nobody's attack.
        for name in ["ok", "body_endless", "ok"] { _ = await wire.get(server.url(name)) }
        await wire.expectLittleMemory(for: HTTP2MemoryTests.names) { server.url($0) }
      }
      server.stop()
    }
  }
}
