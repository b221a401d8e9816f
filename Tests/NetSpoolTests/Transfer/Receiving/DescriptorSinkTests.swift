import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

struct DescriptorSinkTests {
  private let loop: SinkLoop

  init() throws { loop = try SinkLoop() }

  private func makeSink(_ descriptor: CInt) -> DescriptorSink {
    DescriptorSink(descriptor) { [loop] in loop.waitUntilWritable($0, $1) }
  }

  /// Delivers while a reader takes small pieces, and only when the sink has said that it is full.
  private func deliver(
    _ bytes: [UInt8], through pipe: RawPipe, seed: UInt64
  ) throws -> (read: [UInt8], pauses: Int, report: NetworkResponse.StreamReport) {
    var random = SplitMix64(seed: seed)
    var read: [UInt8] = []
    var pauses = 0
    let ready = ReadyCalls()
    let sink = makeSink(pipe.writeEnd)
    try sink.open(SinkFixture.head, bytesExpected: Int64(bytes.count), ready: ready.add)
    try loop.feed(sink, bytes, pieces: 50_000) {
      if ready.take() { return true }
      pauses += 1
      while !canBeWritten(pipe.writeEnd) {
        read += pipe.take(Int.random(in: 1...20_000, using: &random)) ?? []
      }
      return false
    }
    #expect(try sink.finish(nil) == .done)
    while let more = pipe.take(65_536), !more.isEmpty { read += more }
    return (read, pauses, sink.report)
  }

  private func canBeWritten(_ descriptor: CInt) -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return unsafe poll(&polled, 1, 0) == 1
  }

  @Test(arguments: [false, true], [UInt64(1), 2, 3])
  func `a slow pipe or socket gets every byte and keeps its flags`(isSocket: Bool, seed: UInt64) throws {
    let pipe = try RawPipe(isSocket: isSocket)
    let flags = fcntl(pipe.writeEnd, F_GETFL)
    let bytes = SinkFixture.pattern(1 << 20, seed: seed)
    let (read, pauses, report) = try deliver(bytes, through: pipe, seed: seed)
    #expect(pauses > (isSocket ? 0 : 10), "the reader was never waited for")
    #expect(read == bytes, "seed \(seed)")
    #expect(report.digest == SinkFixture.sha256(bytes))
    #expect(report.bytes == Int64(bytes.count))
    #expect(fcntl(pipe.writeEnd, F_GETFL) == flags)
  }

  @Test func `a full pipe answers how much it took`() throws {
    let pipe = try RawPipe()
    let sink = makeSink(pipe.writeEnd)
    var isReady = false
    try sink.open(SinkFixture.head, bytesExpected: nil) { isReady = true }
    let bytes = SinkFixture.pattern(200_000)
    let taken = try unsafe sink.write(bytes.span.bytes)
    #expect(taken > 0 && taken < bytes.count)
    #expect(try unsafe sink.write(bytes.span.bytes.extracting(taken...)) == 0)
    #expect(loop.watchCount == 1, "it is waited for once")
    #expect(pipe.take(taken)?.count == taken)
    try loop.run { isReady }
    #expect(try unsafe sink.write(bytes.span.bytes.extracting(taken...)) > 0)
  }

  @Test func `the reading end of a pipe is not written to`() throws {
    let pipe = try RawPipe()
    let failure = #expect(throws: SinkFailure.self) {
      try makeSink(pipe.readEnd).open(SinkFixture.head, bytesExpected: nil) {}
    }
    #expect(failure?.errno == EBADF)
  }

  @Test func `a shared pipe keeps its flags`() throws {
    let pipe = try RawPipe()
    let before = fcntl(pipe.writeEnd, F_GETFL)
    let sink = makeSink(pipe.writeEnd)
    try sink.open(SinkFixture.head, bytesExpected: nil) {}
    _ = try unsafe sink.write(SinkFixture.pattern(200_000).span.bytes)
    #expect(fcntl(pipe.writeEnd, F_GETFL) == before)
    #expect(try sink.finish(SinkFixture.broken) == .done)
    #expect(fcntl(pipe.writeEnd, F_GETFL) == before)
    #expect(loop.watchCount == 0, "nothing is waited for after the end")
  }

  @Test(arguments: [false, true])
  func `a pipe or socket ends for its reader with its owner's end`(isSocket: Bool) throws {
    let pipe = try RawPipe(isSocket: isSocket)
    try loop.deliver([1, 2, 3], to: makeSink(pipe.writeEnd))
    #expect(pipe.take(10) == [1, 2, 3])
    pipe.closeWriteEnd()
    #expect(pipe.isAtEnd)
  }

  @Test func `a file is written at its position`() throws {
    let directory = try TestFolder()
    try directory.write("body", [1, 2, 3, 4, 5])
    let file = try unsafe TestDescriptor(owning: open(directory["body"], O_WRONLY), from: "open")
    lseek(file.number, 2, SEEK_SET)
    try loop.deliver([8, 9], to: makeSink(file.number))
    #expect(directory.bytes("body") == [1, 2, 8, 9, 5])
    #expect(lseek(file.number, 0, SEEK_CUR) == 4)
  }

  @Test func `a descriptor that is not open is a failure`() throws {
    let failure = #expect(throws: SinkFailure.self) { try loop.deliver([1], to: makeSink(-1)) }
    #expect(failure?.errno == EBADF)
  }
}
