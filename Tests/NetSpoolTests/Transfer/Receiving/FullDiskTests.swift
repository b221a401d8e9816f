import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// Disks that are full: a tiny file system where the tests may mount one, a file size limit where not.
struct FullDiskTests {
  @Test(.enabled(if: TinyDisk.isPossible), arguments: [nil, Int64(2 << 20), Int64(16 << 20)])
  func `a full disk leaves the old file`(expected: Int64?) throws {
    // Given a disk of 1 MiB with an old file
    let disk = try #require(TinyDisk(mebibytes: 1))
    try disk.directory.write("body", [1, 2, 3])
    let loop = try SinkLoop()
    let worker = loop.makeWorker()
    let sink = try FileSink(path: disk.directory["body"], worker: worker, pool: AlignedBufferPool())
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

  @Test(.enabled(if: TinyDisk.isPossible))
  func `an append that does not fit is cut back`() throws {
    let disk = try #require(TinyDisk(mebibytes: 1))
    try disk.directory.write("body", [1, 2, 3])
    let loop = try SinkLoop()
    let worker = loop.makeWorker()
    let sink = try FileSink(
      path: disk.directory["body"], placement: .append, worker: worker, pool: AlignedBufferPool())
    #expect(throws: SinkFailure.self) { try loop.deliver(SinkFixture.pattern(2 << 20), to: sink) }
    #expect(disk.directory.bytes("body") == [1, 2, 3])
    worker.stop()
  }
}
