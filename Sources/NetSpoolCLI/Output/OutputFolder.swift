import Glibc

/// The folder that bodies are written to.
final class OutputFolder {
  let path: String
  private let directory: Descriptor
  private var lastParent = ""

  /// Makes the folder, and those above it, where they are missing. Fails early when it cannot be written to.
  init(path: String) throws(IOFailure) {
    self.path = path.hasSuffix("/") ? path : path + "/"
    try Self.make(path)
    directory = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
    guard unsafe access(path, W_OK | X_OK) == 0 else { throw .last("write to the folder", path) }
  }

  /// Whether a name in the folder is taken.
  func holds(_ name: String) -> Bool { directory.holds(name) }

  /// The path to write `name` to, after the folders in it were made.
  func makePath(for name: String) throws(IOFailure) -> String {
    if let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) {
      let parent = String(name[..<slash])
      if parent != lastParent { try makeInside(parent) }
      lastParent = parent
    }
    return path + name
  }

  /// Makes folders in the folder. A name comes from a list, and must not lead out of it by a symbolic link.
  private func makeInside(_ relative: String) throws(IOFailure) {
    var made = path
    for component in relative.split(separator: "/") {
      made += component
      if unsafe mkdir(made, 0o777) != 0 {
        guard errno == EEXIST else { throw .last("make the folder", made) }
        guard !FileStatus.isLink(made) else {
          throw IOFailure(action: "follow the link", path: made, code: ELOOP)
        }
      }
      made += "/"
    }
  }

  /// `mkdir -p`.
  private static func make(_ path: String) throws(IOFailure) {
    var made = path.hasPrefix("/") ? "/" : ""
    for component in path.split(separator: "/") {
      made += component + "/"
      guard unsafe mkdir(made, 0o777) == 0 || errno == EEXIST else { throw .last("make the folder", made) }
    }
  }
}
