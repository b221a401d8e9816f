import Glibc
import Testing

@testable import NetSpool

struct MemorySinkTests {
  @Test(arguments: [0, 1, 100_000])
  func `keeps the body`(count: Int) throws {
    let bytes = SinkFixture.pattern(count)
    let sink = MemorySink()
    try SinkLoop().deliver(bytes, to: sink, expected: Int64(count), pieces: 999)
    #expect(sink.bytes == bytes)
    #expect(sink.report.bytes == Int64(count))
    #expect(sink.report.digest == SinkFixture.sha256(bytes))
  }

  @Test func `takes its limit and not a byte more`() throws {
    let sink = MemorySink(bytesMax: 100)
    try sink.open(SinkFixture.head, bytesExpected: nil) {}
    let bytes = SinkFixture.pattern(101)
    #expect(try unsafe sink.write(bytes.span.bytes.extracting(..<100)) == 100)
    let failure = #expect(throws: SinkFailure.self) {
      try unsafe sink.write(bytes.span.bytes.extracting(100...))
    }
    #expect(failure?.errno == EFBIG)
    #expect(sink.bytes.count == 100)
  }

  @Test func `an announced length above the limit is refused at once`() {
    let sink = MemorySink(bytesMax: 100)
    let failure = #expect(throws: SinkFailure.self) {
      try sink.open(SinkFixture.head, bytesExpected: 101) {}
    }
    #expect(failure?.errno == EFBIG)
  }

  @Test func `a failed body has no digest`() throws {
    let sink = MemorySink()
    try sink.open(SinkFixture.head, bytesExpected: nil) {}
    #expect(try sink.finish(SinkFixture.broken) == .done)
    #expect(sink.report.sha256 == nil)
  }
}
