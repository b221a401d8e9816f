import Glibc

/// Which file this is and how long: enough to notice that two paths name one file.
struct FileStatus: Equatable {
  let device: UInt
  let inode: UInt
  let size: Int
  let isPlainFile: Bool
  let isDirectory: Bool

  init(_ raw: stat) {
    device = UInt(raw.st_dev)
    inode = UInt(raw.st_ino)
    size = Int(raw.st_size)
    isPlainFile = raw.st_mode & S_IFMT == S_IFREG
    isDirectory = raw.st_mode & S_IFMT == S_IFDIR
  }

  /// The status of what `path` names; nil when there is nothing.
  init?(path: String) {
    var raw = stat()
    guard unsafe stat(path, &raw) == 0 else { return nil }
    self.init(raw)
  }

  /// Whether a symbolic link stands there.
  static func isLink(_ path: String) -> Bool {
    var raw = stat()
    return unsafe lstat(path, &raw) == 0 && raw.st_mode & S_IFMT == S_IFLNK
  }

  /// Whether both are one plain file. Pipes and terminals may be shared without harm.
  func isSameFile(as other: FileStatus) -> Bool {
    isPlainFile && device == other.device && inode == other.inode
  }
}
