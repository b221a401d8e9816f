internal import Glibc

extension FileVersion {
  /// The fingerprint of a file that is to be sent. Throws `.uploadSourceFailed`.
  static func promised(by path: String) throws(NetworkError) -> FileVersion {
    do throws(SystemError) {
      let status = try FileStatus(path: path)
      guard status.isRegular else { throw SystemError(number: EINVAL, call: "stat") }
      return FileVersion(status)
    } catch {
      throw failure(error)
    }
  }

  static func failure(_ error: SystemError) -> NetworkError {
    let reason =
      switch error.number {
      case ENOENT, ENOTDIR: "missing"
      case EACCES, EPERM, ELOOP: "unreadable"
      case EINVAL: "notAFile"
      default: error.call
      }
    return NetworkError(.uploadSourceFailed, reason: reason, underlying: .errno(error.number))
  }
}
