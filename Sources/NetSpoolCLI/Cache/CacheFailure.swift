/// A cache that cannot be used. Ends a command with status 74: going on without would be a surprise.
struct CacheFailure: Error, Equatable, CustomStringConvertible {
  /// Nil when nothing says where it is.
  let directory: String?
  let cause: String

  static let nowhere = CacheFailure(
    directory: nil, cause: "neither XDG_CACHE_HOME nor HOME names an absolute path; --cache names a folder")

  var description: String {
    "cannot use the cache\(directory.map { " in \($0)" } ?? ""): \(cause)"
  }

  /// For commands that can do without.
  var withAdvice: String { "\(self); --no-cache fetches without it" }
}
