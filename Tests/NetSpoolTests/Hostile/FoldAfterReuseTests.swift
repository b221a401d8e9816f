import NetSpool
import Testing

/// libcurl 7.83 to 8.1.0 writes through a pointer into the answer before, when a handle is used again and the next
/// head begins with a fold (curl issue 11101).
@Suite("A fold without a field, on a handle that had an answer")
struct FoldAfterReuseTests {
  @Test func `harms nothing`() async {
    await #expect(processExitsWith: .success) {
      try await withWire({ $0.queue.sizing = .fixed(1) }) { wire in
        for _ in 0..<200 {
          // Given an answer with fields of many sizes
          #expect(try await wire.answer(wire.operation("/hostile/ok")).text == "ok")
          // When the next one begins with a blank
          let error = try await wire.failure(wire.operation("/hostile/hdr_leading_space"))
          // Then it is refused, and nobody's memory is touched
          #expect(error.code == .protocolViolation, "\(error)")
        }
      }
    }
  }
}
