import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

struct FileWriterTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder() }

  private func write(
    _ bytes: [UInt8], to name: String, _ placement: FileWriter.Placement = .replace, expected: Int64? = nil
  ) throws {
    let target = try FileTarget(directory[name])
    var writer = try FileWriter(target, placement: placement, bytesExpected: expected)
    try unsafe writer.write(bytes.span.bytes)
    try writer.publish()
  }

  @Test func `a new file gets the permissions of the umask`() throws {
    // Given what the system gives a new file here
    unsafe close(creat(directory["probe"], 0o666))
    // When one is published
    try write([1], to: "body")
    // Then it is the same
    #expect(try directory.permissions("body") == directory.permissions("probe"))
  }

  @Test(.enabled(if: TinyDisk.isPossible), arguments: [(20, true), (40, false)] as [(Int64, Bool)])
  func `half of what a disk has left is set aside for an announced body at most`(
    mebibytes: Int64, isSetAside: Bool
  ) throws {
    let disk = try #require(TinyDisk(mebibytes: 64))
    let folder = try FileDescriptor.directory(disk.directory.path)
    let before = folder.freeBytes() ?? 0
    let target = try FileTarget(disk.directory["body"])
    let writer = try FileWriter(target, bytesExpected: mebibytes << 20)
    let taken = before - (folder.freeBytes() ?? 0)
    #expect(isSetAside ? taken >= mebibytes << 20 : taken < 1 << 20)
    _ = consume writer
    // And nothing for one that cannot be there
    let failure = #expect(throws: SinkFailure.self) { _ = try FileWriter(target, bytesExpected: 1 << 50) }
    #expect(failure?.errno == ENOSPC)
  }

  @Test func `a working file with a name is its owner's only`() throws {
    let writer = try FileWriter(try FileTarget(directory["body"]), isUnnamed: false)
    #expect(directory.names == [".body.netspool-new"])
    #expect(try directory.permissions(".body.netspool-new") == 0o600)
    _ = consume writer
    #expect(directory.names == [])
  }

  @Test(arguments: [true, false])
  func `two bodies for one name are both whole`(isUnnamed: Bool) throws {
    let target = try FileTarget(directory["body"])
    var first = try FileWriter(target, isUnnamed: isUnnamed)
    var second = try FileWriter(target, isUnnamed: isUnnamed)
    try unsafe first.write(([1, 2] as [UInt8]).span.bytes)
    try unsafe second.write(([3] as [UInt8]).span.bytes)
    try first.publish()
    #expect(directory.bytes("body") == [1, 2])
    try second.publish()
    #expect(directory.bytes("body") == [3])
    #expect(directory.names == ["body"])
  }

  @Test func `a replaced file keeps its permissions`() throws {
    try directory.write("body", [9], permissions: 0o640)
    try write([1, 2], to: "body")
    #expect(directory.bytes("body") == [1, 2])
    #expect(try directory.permissions("body") == 0o640)
  }

  @Test func `the old file stays until the new one is on the disk`() async throws {
    await #expect(processExitsWith: .success) {
      // Given a disk that does not sync
      let directory = try TestFolder()
      try directory.write("body", [9])
      try #require(SyncRefusal.begin())
      // When a file is to be replaced
      var writer = try FileWriter(try FileTarget(directory["body"]))
      try unsafe writer.write([1].span.bytes)
      var failure: SinkFailure?
      do throws(SinkFailure) { try writer.publish() } catch { failure = error }
      // Then it is not
      #expect(failure?.errno == EIO)
      #expect(directory.bytes("body") == [9] && directory.names == ["body"])
    }
  }

  @Test(arguments: [FileWriter.Placement.replace, .createNew, .append])
  func `a symbolic link is neither replaced nor followed`(placement: FileWriter.Placement) throws {
    try directory.write("secret", [9])
    try directory.link("body", to: directory["secret"])
    let failure = #expect(throws: SinkFailure.self) { try write([1], to: "body", placement) }
    #expect(failure?.errno == (placement == .createNew ? EEXIST : ELOOP))
    #expect(directory.bytes("secret") == [9])
    #expect(directory.isLink("body"))
  }

  @Test(arguments: [FileWriter.Placement.replace, .append])
  func `a symbolic link that came meanwhile stays`(placement: FileWriter.Placement) throws {
    try directory.write("secret", [9])
    var writer = try FileWriter(try FileTarget(directory["body"]), placement: placement)
    try unsafe writer.write([1].span.bytes)
    try directory.link("body", to: directory["secret"])
    var failure: SinkFailure?
    do throws(SinkFailure) { try writer.publish() } catch { failure = error }
    #expect(failure?.errno == ELOOP)
    #expect(directory.bytes("secret") == [9])
    #expect(directory.names == ["body", "secret"])
  }

  @Test func `a taken name is refused when new is asked`() throws {
    try directory.write("body", [9])
    #expect(throws: SinkFailure.self) { try write([1], to: "body", .createNew) }
    #expect(directory.bytes("body") == [9])
    try write([1], to: "other", .createNew)
    #expect(directory.names == ["body", "other"])
  }

  @Test func `a name taken meanwhile is refused at the end`() throws {
    var writer = try FileWriter(try FileTarget(directory["body"]), placement: .createNew)
    try unsafe writer.write([1].span.bytes)
    try directory.write("body", [9])
    var failure: SinkFailure?
    do throws(SinkFailure) { try writer.publish() } catch { failure = error }
    #expect(failure?.errno == EEXIST)
    #expect(directory.bytes("body") == [9])
    #expect(directory.names == ["body"])
  }

  @Test(arguments: [FileWriter.Placement.replace, .createNew, .append])
  func `a directory is never replaced`(placement: FileWriter.Placement) throws {
    try #require(unsafe mkdir(directory["body"], 0o755) == 0)
    let failure = #expect(throws: SinkFailure.self) { try write([1], to: "body", placement) }
    #expect(failure?.errno == EISDIR)
    #expect(failure?.reason.hasSuffix("a directory has this name") == true)
    #expect(directory.names == ["body"])
  }

  @Test(arguments: [FileWriter.Placement.replace, .append])
  func `a pipe is never replaced nor waited for`(placement: FileWriter.Placement) throws {
    try #require(unsafe mkfifo(directory["body"], 0o600) == 0)
    let failure = #expect(throws: SinkFailure.self) { try write([1], to: "body", placement) }
    #expect(failure?.errno == ENOTSUP)
  }

  @Test(arguments: ["x", "ä", "🧵"])
  func `the longest name has room for a working file`(letter: String) throws {
    let name = String(repeating: letter, count: 255 / letter.utf8.count)
    try write([1, 2], to: name)
    #expect(directory.bytes(name) == [1, 2])
  }

  @Test func `memory that is not aligned is written the ordinary way`() throws {
    // Given a body long enough for direct writes, in memory at an odd address
    let bytes = SinkFixture.pattern(9 << 20)
    var writer = try FileWriter(try FileTarget(directory["body"]), bytesExpected: 9 << 20)
    // When it is written
    try unsafe writer.write(bytes.span.bytes.extracting(..<1))
    try unsafe writer.write(bytes.span.bytes.extracting(1...))
    try writer.publish()
    // Then nobody notices
    #expect(directory.bytes("body") == bytes)
  }

  @Test func `blocks set aside for more than came are given back`() throws {
    try write([1, 2, 3], to: "body", expected: 64 << 20)
    var status = stat()
    try #require(unsafe stat(directory["body"], &status) == 0)
    #expect(status.st_size == 3)
    #expect(status.st_blocks * 512 <= 1 << 20)
  }
}
