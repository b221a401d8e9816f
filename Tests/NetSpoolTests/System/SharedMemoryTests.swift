import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// Memory that processes of one user share by its name.
struct SharedMemoryTests {
  private static let prefix = "netspool-test-\(geteuid())-"

  private static func open(_ name: String, _ folder: TestFolder) throws -> SharedWords {
    try SharedWords(in: SharedMemory("test", named: name, bytes: 64, in: folder.path), count: 8)
  }

  @Test func `is the same for all that ask for its name, and goes with the last one`() throws {
    let folder = try TestFolder()
    var first: SharedWords? = try Self.open("a", folder)
    var second: SharedWords? = try Self.open("a", folder)
    let other = try Self.open("b", folder)
    #expect(first?.exchange(0, for: 7, at: 3) == true)
    #expect(second?[3] == 7 && other[3] == 0)
    #expect(try FileStatus(path: folder[Self.prefix + "a"]).permissions == 0o600)
    first = nil
    #expect(folder.names == [Self.prefix + "a", Self.prefix + "b"] && second?[3] == 7)
    second = nil
    #expect(folder.names == [Self.prefix + "b"])
    #expect(try Self.open("a", folder)[3] == 0)
  }

  @Test func `its name goes with the last one that lets go of it, and only that one's`() throws {
    let folder = try TestFolder()
    let first = try SharedMemory("test", named: "a", bytes: 64, in: folder.path)
    let words = try SharedWords(in: first, count: 8)
    let second = try SharedMemory("test", named: "a", bytes: 64, in: folder.path)
    first.letGo()
    #expect(folder.names == [Self.prefix + "a"])
    second.letGo()
    #expect(folder.names.isEmpty)
    // What is mapped stays, and is not the next one's, whose name nobody else removes
    #expect(words.exchange(0, for: 7, at: 3) && words[3] == 7)
    let third = try Self.open("a", folder)
    first.letGo()
    second.letGo()
    #expect(third[3] == 0 && folder.names == [Self.prefix + "a"])
  }

  @Test func `what was left behind is used by the next one of its name, or goes with any of its kind`() throws
  {
    // Given what processes have left that were killed, something else, and what somebody has
    let folder = try TestFolder()
    for name in [Self.prefix + "a", Self.prefix + "b", "netspool-tests-\(geteuid())-c", "netspool-test-x-d"] {
      _ = try FileDescriptor(opening: folder[name], flags: O_RDWR | O_CREAT)
    }
    let held = try Self.open("e", folder)
    // When one is asked for
    let words = try Self.open("a", folder)
    // Then those of its kind are gone that nobody has
    #expect(words[0] == 0 && held[0] == 0)
    let left = [Self.prefix + "a", Self.prefix + "e", "netspool-test-x-d", "netspool-tests-\(geteuid())-c"]
    #expect(folder.names == left.sorted())
  }

  @Test func `is not what others could read, or have put there`() throws {
    let folder = try TestFolder()
    _ = try FileDescriptor(opening: folder["target"], flags: O_RDWR | O_CREAT)
    try folder.link(Self.prefix + "a", to: folder["target"])
    let file = try FileDescriptor(opening: folder[Self.prefix + "b"], flags: O_RDWR | O_CREAT)
    try file.setPermissions(0o644)
    let isLocked = file.tryLock()  // else it would be taken for something left behind
    #expect(isLocked)
    for name in ["a", "b"] { #expect(throws: SystemError.self) { _ = try Self.open(name, folder) } }
    #expect(throws: SystemError.self) {
      _ = try SharedMemory("test", named: "c", bytes: 64, in: folder["none"])
    }
    #expect(try FileStatus(path: folder["target"]).bytes == 0)
  }
}
