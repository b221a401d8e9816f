import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Streams that take nothing, over HTTP/2")
struct ReadAheadTests {
  /// More than libcurl's window, so that the origin has to wait.
  private static let bodyBytes = 34 << 20

  /// In a process of its own, so that nothing else counts.
  @Test(.notSanitized(.memoryIsNoMeasure), arguments: [false, true])
  func `keep 256 MiB of a queue at most, hold up no request, and get all they were sent`(_ isPost: Bool) async
  {
    await #expect(processExitsWith: .success) { [isPost = isPost as Bool] in
      let folder = try TestFolder()
      let origin = try ScriptedOrigin(tls: .selfSigned)
      origin.on(prefix: "/long", .pattern(Self.bodyBytes))
      origin.fallback(.text("ok"))
      let authority = try folder.write("ca.pem", Array((origin.certificateAuthority ?? "").utf8))
      try await withWire {
        $0.tls.caFile = authority
        // The origin has one thread, which may be sending a body for long on a busy machine.
        $0.timeouts.connect = .seconds(60)
      } _: { wire in
        func goRound() async {
          #expect(await wire.get(origin.url("/ok")).response?.httpVersion == "HTTP/2")
        }
        await goRound()
        MemoryUse.forgetPeak()
        let before = MemoryUse.resident
        // Given more than fit whose streams take nothing
        let readers = (0..<12).map { number in
          let door = Flag()
          let (stream, method) = (PatternStream(while: door), isPost ? NetworkRequest.Method.post : .get)
          let operation = wire.engine.operation(url: origin.url("/long\(number)"), method: method)
          return (operation: operation.addDownloadStream(stream), stream: stream, door: door)
        }
        wire.engine.enqueue(readers.map { $0.operation })
        // When nothing more comes, though the connection is in use
        var (most, still) = (0, 0)
        while still < 200 {
          await goRound()
          let now = MemoryUse.resident
          (most, still) = now > most + 64 << 10 ? (now, 0) : (most, still + 1)
        }
        // 265-270 MiB here: the rest are buffers, also the origin's.
        #expect(MemoryUse.peak - before <= 288 << 20, "\((MemoryUse.peak - before) >> 20) MiB")
        // Then each gets all of its body once it takes it
        for reader in readers {
          reader.door.set()
          let ending = await reader.operation.end()
          #expect(ending.response?.status == 200, "\(ending)")
          #expect(reader.stream.isWhole(Self.bodyBytes))
        }
        let isBack = await until { wire.queue.budgets.readAhead.held == 0 }
        #expect(isBack && wire.queue.budgets.readAhead.refused > 0)
      }
    }
  }
}
