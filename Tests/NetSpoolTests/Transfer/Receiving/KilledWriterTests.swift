import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// What a process that is killed leaves of its files.
struct KilledWriterTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder() }

  /// Begins a new file, one that replaces another and one that appends, and is killed.
  private func writeAndDie(isUnnamed: Bool) async throws {
    try directory.write("old", [1])
    try directory.write("log", [2])
    let path = directory.path
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, isUnnamed = isUnnamed as Bool] in
      func begin(_ name: String, _ placement: FileWriter.Placement) throws -> SharedWriter {
        let writer = try SharedWriter("\(path)/\(name)", placement, isUnnamed: isUnnamed)
        try writer.write(SinkFixture.pattern(1 << 20))
        return writer
      }
      let writers = [try begin("new", .createNew), try begin("old", .replace), try begin("log", .append)]
      withExtendedLifetime(writers) { _ = kill(getpid(), SIGKILL) }
    }
    #expect(directory.bytes("old") == [1] && directory.bytes("log") == [2])
  }

  @Test func `a process that is killed leaves nothing`() async throws {
    try await writeAndDie(isUnnamed: true)
    #expect(directory.names == ["log", "old"])
  }

  @Test func `files with names go when the next is written to their directory`() async throws {
    try await writeAndDie(isUnnamed: false)
    #expect(directory.names == [".log.netspool-new", ".new.netspool-new", ".old.netspool-new", "log", "old"])
    // One that a living process works on, and names that only look like ours
    try directory.write(".mine.netspool-new", [3])
    let mine = directory[".mine.netspool-new"]
    let living = try unsafe TestDescriptor(owning: open(mine, O_RDWR | O_CLOEXEC), from: "open")
    #expect(flock(living.number, LOCK_EX) == 0)
    try directory.write(".old.netspool-part", [4])
    let writer = try SharedWriter(directory["other"], .replace, isUnnamed: false)
    #expect(
      directory.names == [".mine.netspool-new", ".old.netspool-part", ".other.netspool-new", "log", "old"])
    try writer.publish()
    #expect(directory.names == [".mine.netspool-new", ".old.netspool-part", "log", "old", "other"])
  }

  @Test func `a hidden name of a dead process is used again`() async throws {
    // Given a process that was killed between the hidden name and the target's
    try directory.write("old", [1])
    try directory.write(".old.netspool-new", [2])
    // When the same file is written again
    let writer = try SharedWriter(directory["old"], .replace, isUnnamed: true)
    try writer.write([3])
    try writer.publish()
    // Then nothing is left of it
    #expect(directory.names == ["old"])
    #expect(directory.bytes("old") == [3])
  }
}

/// A writer that several places may hold.
private final class SharedWriter {
  private var writer: FileWriter?

  init(_ path: String, _ placement: FileWriter.Placement, isUnnamed: Bool) throws {
    writer = try FileWriter(try FileTarget(path), placement: placement, isUnnamed: isUnnamed)
  }

  func write(_ bytes: [UInt8]) throws { try unsafe writer?.write(bytes.span.bytes) }
  func publish() throws { try writer.take()?.publish() }
}
