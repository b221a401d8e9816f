import Glibc

/// An empty folder that goes away with its last reference.
final class TestFolder: Sendable {
  let path: String

  init() throws { path = try TestFiles.makeDirectory() }

  deinit {
    for name in (try? names()) ?? [] where unsafe unlink(path(name)) != 0 { _ = unsafe rmdir(path(name)) }
    _ = unsafe rmdir(path)
  }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func add(_ name: String, _ bytes: some Collection<UInt8>) throws -> String {
    try TestFiles.write(bytes, to: path(name))
    return path(name)
  }

  func read(_ name: String) throws -> [UInt8] { try TestFiles.read(path(name)) }

  func delete(_ name: String) { _ = unsafe unlink(path(name)) }

  /// The names in it, hidden ones too.
  func names() throws -> [String] {
    guard let folder = unsafe opendir(path) else { throw PartFailure("opendir: errno \(errno)") }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
