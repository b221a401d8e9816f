import Glibc

/// A local file, pipe or folder that could not be opened, read or written. It ends the job with status 74.
struct IOFailure: Error, Equatable, CustomStringConvertible {
  /// What was tried, as a verb: `open`, `read`, `write`.
  let action: String
  /// The file as the user named it.
  let path: String
  /// The system's `errno`, never remapped.
  let code: Int32

  /// Takes `errno` as the last system call left it.
  static func last(_ action: String, _ path: String) -> IOFailure {
    IOFailure(action: action, path: path, code: errno)
  }

  var description: String {
    "cannot \(action) \(path): \(unsafe String(cString: strerror(code)))"
  }

  /// Whether every later write would fail as well: full disk, quota, read-only or broken device.
  var stopsEverything: Bool { Self.stopsEverything(code) }

  static func stopsEverything(_ code: Int32) -> Bool {
    code == ENOSPC || code == EDQUOT || code == EROFS || code == EIO
  }
}
