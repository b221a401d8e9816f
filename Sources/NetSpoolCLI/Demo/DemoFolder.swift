import Glibc
import NetSpoolTesting

/// The demo's temporary folder, and what is found in it.
final class DemoFolder {
  let path: String

  init(in directory: String) throws(IOFailure) {
    path = try TemporaryFolder.make(in: directory, named: "netspool-demo")
  }

  subscript(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ name: String, _ text: String) throws(IOFailure) -> String {
    try WholeFile.write(Array(text.utf8), to: self[name], mode: 0o600)
    return self[name]
  }

  func remove() { Self.remove(path) }
  func remove(_ name: String) { Self.remove(self[name]) }

  private static func remove(_ path: String) {
    for name in names(in: path) { remove("\(path)/\(name)") }
    unsafe _ = Glibc.remove(path)
  }

  /// The files below a folder, hidden ones included.
  static func countFiles(in path: String) -> Int {
    names(in: path).reduce(0) { count, name in
      let inside = "\(path)/\(name)"
      return count + (FileFacts(path: inside)?.isPlainFile == true ? 1 : countFiles(in: inside))
    }
  }

  /// Empty for what is no folder, and for a link to one.
  private static func names(in path: String) -> [String] {
    guard FileFacts(path: path, followsLinks: false)?.isDirectory == true else { return [] }
    return (try? LandingFolder.names(in: path)) ?? []
  }

  // MARK: Looking at files

  /// Counts the files that are not there or not, byte for byte, the thumbnail of their number.
  static func countWrong(_ files: [(name: String, number: Int)], in folder: String) -> Int {
    files.count { file in
      let found = try? Descriptor(opening: "\(folder)/\(file.name)", O_RDONLY).readAll(atMost: 1 << 30)
      return found != Thumbnail.png(file.number)
    }
  }
}
