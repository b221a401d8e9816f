import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("File descriptors")
struct FileDescriptorTests {
  @Test func `what is written is read back, in order and by offset`() throws {
    let directory = try TestFolder()
    let path = try directory.write("f", Array("hello".utf8))
    let file = try FileDescriptor(opening: path, flags: O_RDWR)
    #expect(try put(Array("EL".utf8), file, at: 1) == 2)
    #expect(try put([], file) == 0)
    let tail = try Self.bytes(of: file, at: 3)
    let whole = try Self.bytes(of: file)
    let end = try Self.bytes(of: file)
    #expect(tail == Array("lo".utf8))
    #expect(whole == Array("hELlo".utf8))
    #expect(end.isEmpty)
  }

  @Test func `a name is looked up in an open directory, and every descriptor is close-on-exec`() throws {
    let directory = try TestFolder()
    try directory.write("f", [7])
    let parent = try FileDescriptor(opening: directory.path, flags: O_RDONLY | O_DIRECTORY)
    let file = try FileDescriptor(opening: "f", in: parent, flags: O_RDONLY)
    #expect(try FileStatus(of: file) == FileStatus(path: "\(directory.path)/f"))
    for number in [parent.rawValue, file.rawValue] {
      let flags = fcntl(number, F_GETFD)
      #expect(flags & FD_CLOEXEC != 0)
    }
  }

  @Test func `a failed call keeps its error number and its name`() throws {
    let directory = try TestFolder()
    let path = try directory.write("f", [1])
    #expect(throws: SystemError(number: ENOENT, call: "open")) {
      _ = try FileDescriptor(opening: "\(directory.path)/absent", flags: O_RDONLY)
    }
    #expect(throws: SystemError(number: ENOTDIR, call: "stat")) { _ = try FileStatus(path: "\(path)/x") }
    let file = try FileDescriptor(opening: path, flags: O_RDONLY)
    #expect(throws: SystemError(number: EBADF, call: "write")) { _ = try put([1], file) }
  }

  @Test func `an interrupted call is repeated`() throws {
    var answers: [Int32] = [-1, -1, 5]
    let result = try SystemError.check("test") {
      errno = EINTR
      return answers.removeFirst()
    }
    #expect(result == 5)
  }

  @Test func `closing reports a descriptor that was already gone`() throws {
    #expect(throws: SystemError(number: EBADF, call: "close")) {
      var file = FileDescriptor(owning: 1_000_000)
      try file.close()
    }
  }

  private static func bytes(of file: borrowing FileDescriptor, at offset: Int64? = nil) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 8)
    let count =
      if let offset {
        unsafe try buffer.withUnsafeMutableBytes { unsafe try file.read(into: $0, at: offset) }
      } else {
        unsafe try buffer.withUnsafeMutableBytes { unsafe try file.read(into: $0) }
      }
    return Array(buffer[..<count])
  }
}
