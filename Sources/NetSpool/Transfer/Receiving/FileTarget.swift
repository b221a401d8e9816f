internal import Glibc

/// Where a file is to stand: a directory and a name in it.
struct FileTarget: Sendable, Equatable {
  /// As the caller wrote it.
  let path: String
  let directory: String
  let name: String

  /// Throws EINVAL for an empty path or one with a NUL byte in it, and EISDIR for one that can only be a directory's.
  init(_ path: String) throws(SinkFailure) {
    let (directory, name) = Self.split(path)
    self.path = path
    self.directory = directory
    self.name = name
    if path.isEmpty || path.utf8.contains(0) {
      throw SinkFailure("could not open", self, SystemError(number: EINVAL, call: "open"))
    }
    if name.isEmpty || name == "." || name == ".." {
      throw SinkFailure("could not open", self, SystemError(number: EISDIR, call: "open"))
    }
  }

  private static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let name = String(path[path.utf8.index(after: slash)...])
    return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
  }

  /// A hidden name beside the target that nobody can guess or is likely to have taken.
  func makeWorkingName() -> String {
    var stem = name
    // A name may have 255 bytes; the rest of ours takes 27.
    while stem.utf8.count > 200 { stem.removeLast() }
    return ".\(stem).netspool-\(Hexadecimal.text(UInt64.random(in: .min ... .max)))"
  }
}
