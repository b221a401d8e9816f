import Glibc

/// A file that is written in one step: a reader finds what was there before, or all of it.
enum WholeFile {
  /// Only a plain file, or none, is replaced: a device or pipe is written to as it stands, since a rename over `/dev/null`
  /// would destroy it, and behind a symbolic link the file that it leads to is the one replaced.
  static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(IOFailure) {
    if let status = FileFacts(path: path), !status.isPlainFile {
      return try Descriptor(opening: path, O_WRONLY).write(bytes)
    }
    try replace(try FileFacts.isLink(path) ? end(of: path) : path, bytes, mode: mode)
  }

  /// A symbolic link is replaced itself.
  static func replace(_ path: String, _ bytes: [UInt8], mode: mode_t = 0o666) throws(IOFailure) {
    let draft = OwnName.beside(path)
    do throws(IOFailure) {
      try Descriptor(opening: draft, O_WRONLY | O_CREAT | O_EXCL, mode: mode).write(bytes)
      guard unsafe rename(draft, path) == 0 else { throw .last("write", path) }
    } catch {
      unsafe unlink(draft)
      throw error
    }
  }

  /// The file that a symbolic link leads to. A link to nothing is refused: its maker may want it to be made.
  private static func end(of link: String) throws(IOFailure) -> String {
    guard let end = unsafe realpath(link, nil) else { throw .last("follow the link", link) }
    defer { unsafe free(end) }
    return unsafe String(cString: end)
  }
}
