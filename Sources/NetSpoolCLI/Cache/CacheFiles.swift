/// What a cache's folder holds, found without opening the store: looking must not make one, or change one.
enum CacheFiles {
  /// The store's length; nil when there is none.
  static func bytes(in directory: String) -> Int? {
    FileStatus(path: "\(directory)/data.mdb").flatMap { $0.isPlainFile ? $0.size : nil }
  }
}
