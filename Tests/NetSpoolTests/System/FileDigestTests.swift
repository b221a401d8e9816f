import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite struct FileDigestTests {
  /// Long ago, so that what was read is remembered.
  private func write(_ text: String, to folder: TestFolder, at second: Int) throws -> String {
    let path = try folder.write("bundle.pem", text)
    try folder.touch("bundle.pem", seconds: second)
    return path
  }

  @Test func `a file that was edited or replaced is read again`() throws {
    let folder = try TestFolder()
    let path = try write("first", to: folder, at: 1_000)
    let first = FileDigest.text(of: path)
    #expect(first == FileDigest.text(of: path) && !first.isEmpty)
    // Given another text of the same length
    let edited = FileDigest.text(of: try write("other", to: folder, at: 2_000))
    #expect(edited != first)
    // When another file with the time of before takes its place
    let new = try TestFolder()
    #expect(unsafe rename(try write("third", to: new, at: 2_000), path) == 0)
    let replaced = FileDigest.text(of: path)
    #expect(replaced != edited && replaced != first)
    unsafe unlink(path)
    #expect(FileDigest.text(of: path).isEmpty)
  }
}
