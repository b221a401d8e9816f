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
        func goRound() async throws {
          let answer = try await wire.answer(wire.engine.operation(url: origin.url("/ok")))
          #expect(answer.httpVersion == "HTTP/2")
        }
        try await goRound()
        MemoryUse.forgetPeak()
        let before = MemoryUse.resident
        // Given more than fit whose streams take nothing
        let readers = (0..<12).map { number in
          Reader(wire.engine.operation(url: origin.url("/long\(number)"), method: isPost ? .post : .get))
        }
        wire.engine.enqueue(readers.map(\.operation))
        // When nothing more comes, though the connection is in use
        var (most, still) = (0, 0)
        while still < 200 {
          try await goRound()
          let now = MemoryUse.resident
          (most, still) = now > most + 64 << 10 ? (now, 0) : (most, still + 1)
        }
        // 265-270 MiB here: the rest are buffers, also the origin's.
        #expect(MemoryUse.peak - before <= 288 << 20, "\((MemoryUse.peak - before) >> 20) MiB")
        // Then each gets all of its body once it takes it
        for reader in readers {
          reader.goOn()
          let ending = await reader.operation.end()
          #expect(ending.response?.status == 200, "\(ending)")
          #expect(reader.taken == Self.bodyBytes)
        }
        let isBack = await until { wire.queue.budgets.readAhead.held == 0 }
        #expect(isBack && wire.queue.budgets.readAhead.refused > 0)
      }
    }
  }
}

/// An operation whose stream takes nothing until it is told to.
private final class Reader: Sendable {
  let operation: NetworkOperation
  private let stream: ClosureDownloadStream
  private let isOpen: Flag
  private let count: Counter
  var taken: Int { count.value }

  init(_ operation: NetworkOperation) {
    let (isOpen, count) = (Flag(), Counter())
    (self.operation, self.isOpen, self.count) = (operation, isOpen, count)
    stream = ClosureDownloadStream { bytes in
      guard isOpen.isSet else { return .pause }
      count.add(bytes.byteCount)
      return .accepted
    }
    operation.addDownloadStream(stream)
  }

  func goOn() {
    isOpen.set()
    stream.resume()
  }
}
