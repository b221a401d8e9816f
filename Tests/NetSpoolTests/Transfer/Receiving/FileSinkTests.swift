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

  /// A sink with a part that nothing fits to, which goes behind what is to come first.
  private func makeMisfit(_ first: @escaping @Sendable () -> Void = {}) throws -> FileSink {
    let part = try directory.write("body.part", [1, 2, 3])
    return FileSink(
      path: directory["body"], worker: worker, pool: pool, lane: Worker.Lane(device: 0),
      discardPart: {
        first()
        _ = unsafe unlink(part)
      },
      makeWork: { (_, _) throws(SinkFailure) in
        throw SinkFailure(reason: "nothing fits", code: .resumeMismatch)
      })
  }

  /// Who asks again as soon as he hears of the end begins anew.
  @Test(arguments: [false, true])
  func `a part that nothing fits to is gone before the end is told`(hasHead: Bool) throws {
    let fanout = SinkFanout()
    fanout.add(try makeMisfit(), id: 1) { _ in }
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
    let gate = try Gate()
    let sink = try makeMisfit { gate.wait() }
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
    worker.run(on: Worker.Lane(), { _ = gate.wait() }, completion: {})
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

  @Test(
    .enabled(if: TinyDisk.isPossible),
    arguments: [(.replace, nil), (.replace, 2 << 20), (.replace, 16 << 20), (.append, nil)]
      as [(FileWriter.Placement, Int64?)])
  func `a full disk leaves the old file`(placement: FileWriter.Placement, expected: Int64?) throws {
    // Given a disk of 1 MiB with an old file
    let disk = try #require(TinyDisk(mebibytes: 1))
    try disk.directory.write("body", [1, 2, 3])
    let sink = try FileSink(path: disk.directory["body"], placement: placement, worker: worker, pool: pool)
    // When more is written to it
    let failure = #expect(throws: SinkFailure.self) {
      try loop.deliver(SinkFixture.pattern(2 << 20), to: sink, expected: expected)
    }
    // Then it says so, and the old file stands alone
    #expect(failure?.errno == ENOSPC)
    #expect(failure?.reason.hasSuffix("no space left on the disk") == true)
    #expect(disk.directory.names == ["body"])
    #expect(disk.directory.bytes("body") == [1, 2, 3])
    worker.stop()
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
