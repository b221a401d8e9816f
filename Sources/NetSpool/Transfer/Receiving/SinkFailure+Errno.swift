internal import Glibc

extension SinkFailure {
  /// What was being done to which file, and why it could not be: one sentence and the number behind it.
  init(_ doing: String, _ target: FileTarget, _ failure: SystemError) {
    self.init(doing, target.path, failure)
  }

  init(_ doing: String, _ what: String, _ failure: SystemError) {
    self.init(errno: failure.number, reason: "\(doing) \(what): \(Self.cause(failure.number))")
  }

  private static func cause(_ number: CInt) -> String {
    switch number {
    case ENOENT: "there is no such directory"
    case ENOTDIR: "a part of the path is not a directory"
    case EISDIR: "a directory has this name"
    case EEXIST: "the name is taken"
    case ELOOP: "a symbolic link has this name"
    case ENOTSUP: "what has this name is not a file"
    case EACCES, EPERM: "permission denied"
    case EROFS: "the file system is read-only"
    case ENOSPC: "no space left on the disk"
    case EDQUOT: "the disk quota is used up"
    case EFBIG: "the file would be too long"
    case ENAMETOOLONG: "the name is too long"
    case EMFILE, ENFILE: "too many open files"
    case EPIPE, ECONNRESET: "nobody reads it any more"
    case EBADF: "it is not open for writing"
    default: "error \(number)"
    }
  }
}
