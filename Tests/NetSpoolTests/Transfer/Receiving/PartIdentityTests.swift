import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// The part whose bytes were judged is the file that is published, whatever becomes of its name meanwhile.
struct PartIdentityTests {
  private let directory: TestFolder
  private let note = PartNote(url: "http://origin/body", validator: "\"a\"", total: nil)

  init() throws { directory = try TestFolder() }

  private func target() throws -> FileTarget { try FileTarget(directory["body"]) }

  private func buffer(_ bytes: [UInt8]) -> AlignedBuffer {
    let buffer = AlignedBuffer(capacity: max(bytes.count, 4096))
    _ = buffer.append(bytes.rawBytes, from: 0)
    return buffer
  }

  private func failure(_ result: Result<[UInt8]?, SinkFailure>) -> SinkFailure? {
    if case .failure(let failure) = result { failure } else { nil }
  }

  @Test(arguments: [
    "body.netspool-part", "body.netspool-validator", "body.netspool-validator-new", ".body.netspool-new",
    "BODY.NetSpool-Part", ".body.netspool-new-0123456789abcdef", ".netspool-spool-0",
  ])
  func `a body is never given a name that is the library's own`(name: String) {
    let failure = #expect(throws: SinkFailure.self) { try FileTarget(directory[name]) }
    #expect(failure?.errno == EINVAL && failure?.reason.contains("NetSpool's own") == true)
  }

  @Test(arguments: ["netspool-part", "body.netspool-party", "netspool-part.img", "a.netspool-new.jpg"])
  func `a name that only resembles the library's own is as any other`(name: String) throws {
    #expect(try FileTarget(directory[name]).name == name)
  }

  @Test func `the part of a name that is too long for one more ending has a shorter one`() throws {
    let (long, longer) = (String(repeating: "a", count: 230), String(repeating: "b", count: 231))
    #expect(try FileTarget(directory[long]).partName == long + ".netspool-part")
    let short = try FileTarget(directory[longer]).partName
    #expect(short.hasPrefix("bbb") && short.hasSuffix(".netspool-part") && short.utf8.count < 255)
    #expect(try FileTarget(directory[longer + "b"]).partName != short)
  }

  @Test func `a file that took the part's name is not published in its place`() throws {
    // Given a part with all of its bytes
    let writer = PartWriter(try target(), .beginning(note), digests: true)
    #expect(writer.write(buffer([1, 2, 3])) == nil)
    // When another file takes its name
    try directory.write("evil", [6, 6, 6])
    #expect(unsafe rename(directory["evil"], directory["body.netspool-part"]) == 0)
    // Then the body fails, and the other stays where it is
    #expect(failure(writer.finish(nil))?.errno == ESTALE)
    #expect(directory.bytes("body") == nil && directory.bytes("body.netspool-part") == [6, 6, 6])
  }

  @Test func `a part replaces no file before the disk has it`() async {
    await #expect(processExitsWith: .success) {
      // Given a part with all of its bytes, beside the file that it shall replace, and a disk that does not sync
      let directory = try TestFolder()
      try directory.write("body", [9])
      let note = PartNote(url: "http://origin/body", validator: "\"a\"", total: nil)
      let writer = PartWriter(try FileTarget(directory["body"]), .beginning(note), digests: false)
      let buffer = AlignedBuffer(capacity: 4_096)
      _ = buffer.append([1 as UInt8].rawBytes, from: 0)
      #expect(writer.write(buffer) == nil)
      try #require(SyncRefusal.begin())
      // When it is published, it fails and nothing is replaced
      guard case .failure(let failure) = writer.finish(nil) else { fatalError("it was published") }
      #expect(failure.errno == EIO)
      #expect(directory.bytes("body") == [9])
    }
  }

  @Test func `a symbolic link that came meanwhile stays`() throws {
    let writer = PartWriter(try target(), .beginning(note), digests: false)
    #expect(writer.write(buffer([1, 2, 3])) == nil)
    try directory.write("secret", [9])
    try directory.link("body", to: directory["secret"])
    #expect(failure(writer.finish(nil))?.errno == ELOOP)
    #expect(directory.isLink("body") && directory.bytes("secret") == [9])
  }

  @Test func `a part that another process began anew is not gone on with`() throws {
    // Given a part that was planned for
    try directory.write("body.netspool-part", [1, 2, 3])
    // When it is another's by the time of the answer
    let directoryFile = try FileDescriptor.directory(directory.path)
    try PartNote(url: "http://origin/body", validator: "\"b\"", total: nil).write(
      for: target(), in: directoryFile)
    let writer = PartWriter(try target(), .goingOn(0, until: 3, total: nil, of: note), digests: true)
    // Then nothing is put behind it, and it stays
    #expect(writer.write(buffer([1, 2, 3, 4]))?.code == .resumeMismatch)
    #expect(directory.bytes("body.netspool-part") == [1, 2, 3])
  }

  @Test func `a part that another process writes is not removed`() throws {
    let writer = PartWriter(try target(), .beginning(note), digests: true)
    #expect(writer.write(buffer([1, 2, 3])) == nil)
    PartWriter.discard(try target())
    #expect(directory.names == ["body.netspool-part", "body.netspool-validator"])
    #expect(failure(writer.finish(nil)) == nil)
    #expect(directory.bytes("body") == [1, 2, 3])
  }

  @Test(arguments: [false, true]) func `a digest is taken where one is asked for`(digests: Bool) throws {
    let writer = PartWriter(try target(), .beginning(note), digests: digests)
    #expect(writer.write(buffer([1, 2, 3])) == nil)
    #expect(try (writer.finish(nil).get() != nil) == digests)
  }

  @Test func `a part that is opened while it is published is never written to once it has the target's name`()
    async throws
  {
    let target = try target()
    let rounds = LongRun.isOn ? 20_000 : 500
    for _ in 0..<rounds {
      let first = PartWriter(target, .beginning(note), digests: true)
      #expect(first.write(buffer([1, 2, 3])) == nil)
      let other = Task.detached { [note] in
        let second = PartWriter(target, .beginning(note), digests: true)
        _ = second.write(AlignedBuffer(capacity: 4096))
        second.abandon(nil)
      }
      #expect(failure(first.finish(nil)) == nil)
      await other.value
      #expect(directory.bytes("body") == [1, 2, 3])
    }
  }
}
