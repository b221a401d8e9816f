#if DEBUG
import Glibc

/// A directory of its own, removed with everything in it unless it is kept for whoever looks for a fault.
final class CrashFolder {
  let path: String
  var isKept = false

  init(in base: String) throws {
    var template = Array("\(base)/netspool-crash-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw CrashError("mkdtemp in \(base): errno \(errno)") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { if !isKept { CrashFiles.remove(path) } }

  subscript(_ name: String) -> String { "\(path)/\(name)" }

  /// In memory where the system has such a place: what is judged here is not how long a disk takes.
  static var fastBase: String { unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : slowBase }

  /// On a disk, as a user's store is.
  static var slowBase: String {
    guard let base = unsafe getenv("TMPDIR") else { return "/tmp" }
    return unsafe String(cString: base)
  }
}
#endif
