import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Memory under a hostile origin")
struct HostileMemoryTests {
  /// What could fill a memory: endless, or far more than was sent.
  private static let names = [
    "hdr_big_line", "hdr_many", "hdr_infinite", "hdr_line_infinite", "1xx_many", "1xx_endless",
    "status_big_reason", "chunk_ext5mb", "chunk_trailers20k", "chunk_trailers_endless", "chunk_tiny",
    "gz_bomb", "gz_bomb2", "gz_bomb_10g", "body_endless",
  ]

  /// In a process of its own, one after the other, so that nothing else counts.
  @Test(.notSanitized(.memoryIsNoMeasure))
  func `stays within eight mebibytes`() async {
    await #expect(processExitsWith: .success) {
      try await withWire { configuration in
        configuration.limits.bodyBytesInMemoryMax = 4 << 20
        configuration.queue.sizing = .fixed(1)
      } _: { wire in
        for name in ["gz_bomb", "gz_bomb2", "gz_ok"] + HostileMemoryTests.names {
          _ = await wire.result(of: wire.operation("/hostile/\(name)"))
        }
        await wire.expectLittleMemory(for: HostileMemoryTests.names) { wire.origin.url("/hostile/\($0)") }
      }
    }
  }
}

extension Wire {
  /// Meets one behaviour after the other. The body that may be kept is no surprise; the rest must be.
  func expectLittleMemory(for names: [String], at url: (String) -> String) async {
    for name in names {
      let allowed = (name == "body_endless" ? 12 : 8) << 20
      MemoryUse.forgetPeak()
      let before = MemoryUse.resident
      _ = await get(url(name))
      #expect(MemoryUse.peak - before <= allowed, "\(name): \((MemoryUse.peak - before) >> 10) KiB")
    }
  }
}
