import Glibc

/// What a store's folder holds, found without opening it: looking must not make one.
enum FrozenFiles {
  /// Whether there is a store. One that may not be looked at counts: opening it says why.
  static func hasStore(in directory: String) throws(FrozenFailure) -> Bool {
    if FileStatus(path: directory)?.isDirectory == false { throw .noDirectory(directory) }
    if unsafe access("\(directory)/data.mdb", F_OK) == 0 { return true }
    return errno != ENOENT && errno != ENOTDIR
  }
}
