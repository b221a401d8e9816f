import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

struct FileSinkTests {
  static let full = AlignedBuffer.fullCapacity
  static let long = Int(8 << 20)

  private let directory: TestFolder
  private let loop: SinkLoop
  private let worker: Worker
  private let pool = AlignedBufferPool()

  init() throws {
    directory = try TestFolder()
    loop = try SinkLoop()
    worker = loop.makeWorker()
  }

  private func makeSink(_ name: String, _ placement: FileWriter.Placement = .replace) throws -> FileSink {
    try FileSink(path: directory[name], placement: placement, worker: worker, pool: pool)
  }

  @Test(
    arguments: [
      0, 1, 4095, 4096, 16_384, 16_385, full - 1, full, full + 1, 2 * full, 2 * full + 1, 5 * full + 77,
      long - 1, long, long + 4097,
    ], [true, false])
  func `bodies of every size arrive whole`(count: Int, isLengthKnown: Bool) throws {
    let bytes = SinkFixture.pattern(count)
    let sink = try makeSink("body")
    try loop.deliver(bytes, to: sink, expected: isLengthKnown ? Int64(count) : nil, pieces: 100_003)
    #expect(directory.bytes("body") == bytes)
    #expect(directory.names == ["body"])
    #expect(sink.report.bytes == Int64(count))
    #expect(sink.report.path == directory["body"])
    #expect(sink.report.digest == SinkFixture.sha256(bytes))
  }

  /// Who asks again as soon as he hears of the end begins anew.
  @Test(arguments: [false, true])
  func `a part that nothing fits to is gone before the end is told`(hasHead: Bool) throws {
    try directory.write("body.part", [1, 2, 3])
    let part = directory["body.part"]
    let sink = FileSink(
      path: directory["body"], worker: worker, pool: pool, lane: Worker.Lane(device: 0),
      discardPart: { _ = unsafe unlink(part) },
      makeWork: { (_, _) throws(SinkFailure) in
        throw SinkFailure(reason: "nothing fits", code: .resumeMismatch)
      })
    let fanout = SinkFanout()
    fanout.add(sink, id: 1) { _ in }
    if hasHead { fanout.open(SinkFixture.head, bytesExpected: nil) }
    var isThere: Bool?
    fanout.finish(NetworkError(.resumeMismatch)) { [directory] in
      isThere = directory.names.contains("body.part")
    }
    #expect(isThere == nil)
    try loop.run { isThere != nil }
    #expect(isThere == false)
  }

  @Test func `of a part no more than 64 KiB is not on the disk yet`() throws {
    let target = try FileTarget(directory["body"])
    let note = PartNote(url: "http://origin/", validator: "\"a\"", total: nil)
    let sink = FileSink(path: target.path, worker: worker, pool: pool, lane: Worker.Lane(device: 0)) {
      (_, _) throws(SinkFailure) in PartWriter(target, .beginning(note), digests: false)
    }
    try sink.open(SinkFixture.head, bytesExpected: 1 << 20) {}
    let bytes = SinkFixture.pattern(1 << 20)
    for start in stride(from: 0, to: bytes.count, by: 16 << 10) {
      _ = try unsafe sink.write(bytes.span.bytes.extracting(start..<start + 16 << 10))
      let least = start + 16 << 10 - 64 << 10
      try loop.run { least <= 0 || directory.bytes("body.netspool-part")?.count ?? 0 >= least }
    }
    try loop.finish(sink, nil)
    #expect(directory.bytes("body") == bytes)
  }

  @Test func `a stream that does not fit to its part fails once the part is gone`() throws {
    try directory.write("body.part", [1, 2, 3])
    let (part, gate) = (directory["body.part"], try Gate())
    let sink = FileSink(
      path: directory["body"], worker: worker, pool: pool, lane: Worker.Lane(device: 0),
      discardPart: {
        _ = gate.wait()
        _ = unsafe unlink(part)
      },
      makeWork: { (_, _) throws(SinkFailure) in
        throw SinkFailure(reason: "nothing fits", code: .resumeMismatch)
      })
    let fanout = SinkFanout()
    var isThere: Bool?
    fanout.add(sink, id: 1) { [directory] _ in isThere = directory.names.contains("body.part") }
    fanout.open(SinkFixture.head, bytesExpected: nil)
    fanout.write(([1, 2] as [UInt8]).rawBytes)
    #expect(isThere == nil)
    gate.open()
    try loop.run { isThere != nil }
    #expect(isThere == false)
  }

  @Test(arguments: [0, 100, 3 * full])
  func `a sink that is dropped leaves no trace`(count: Int) throws {
    do {
      let sink = try makeSink("body")
      try sink.open(SinkFixture.head, bytesExpected: nil) {}
      _ = try unsafe sink.write(SinkFixture.pattern(count).span.bytes)
    }
    worker.stop()
    #expect(directory.names == [])
  }

  @Test func `a slow disk holds one mebibyte and pauses the rest`() throws {
    // Given a worker that is busy elsewhere
    let worker = loop.makeWorker(threads: 1)
    let gate = try Gate()
    worker.run(on: Worker.Lane()) {
      _ = gate.wait()
    } completion: {
    }
    let sink = try FileSink(path: directory["body"], worker: worker, pool: pool)
    let bytes = SinkFixture.pattern(3 * Self.full)
    let ready = ReadyCalls()
    try sink.open(SinkFixture.head, bytesExpected: nil, ready: ready.add)
    // When three buffers' worth is offered, then two are taken
    let taken = try unsafe sink.write(bytes.span.bytes)
    #expect(taken == 2 * Self.full)
    #expect(try unsafe sink.write(bytes.span.bytes.extracting(taken...)) == 0)
    #expect(ready.count == 0)
    // And the rest is taken once the disk goes on
    gate.open()
    try loop.run { ready.count > 0 }
    #expect(try unsafe sink.write(bytes.span.bytes.extracting(taken...)) == Self.full)
    try loop.finish(sink, nil)
    #expect(directory.bytes("body") == bytes)
    worker.stop()
  }

  @Test(arguments: [5, 2 * full + 1])
  func `appending goes behind what is there`(count: Int) throws {
    try directory.write("body", [1, 2, 3], permissions: 0o600)
    let bytes = SinkFixture.pattern(count)
    try loop.deliver(bytes, to: try makeSink("body", .append), expected: Int64(count))
    #expect(directory.bytes("body") == [1, 2, 3] + bytes)
    #expect(try directory.permissions("body") == 0o600)
    try loop.deliver(bytes, to: try makeSink("new", .append), expected: nil)
    #expect(directory.bytes("new") == bytes)
  }

  @Test func `ten thousand open sinks cost no buffers`() throws {
    let sinks = try (0..<10_000).map { try makeSink("body\($0)") }
    for sink in sinks { try sink.open(SinkFixture.head, bytesExpected: 100) {} }
    for sink in sinks { #expect(try sink.finish(SinkFixture.broken) == .done) }
    #expect(directory.names == [])
  }

  @Test(arguments: ["", "a\0b", "directory/", ".", ".."])
  func `a path that cannot be a file's is refused at once`(path: String) {
    #expect(throws: SinkFailure.self) { try FileSink(path: path, worker: worker, pool: pool) }
  }
}
