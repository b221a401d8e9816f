import NetSpool

/// A cache that cannot be used. Ends a command with status 74: going on without would be a surprise.
struct CacheFailure: Error, Equatable, CustomStringConvertible {
  /// Nil when nothing says where it is.
  let directory: String?
  let cause: String

  static let nowhere = CacheFailure(
    directory: nil, cause: "neither XDG_CACHE_HOME nor HOME names an absolute path; --cache names a folder")

  static func noDirectory(_ path: String) -> CacheFailure {
    CacheFailure(directory: path, cause: "it is no directory")
  }

  private init(directory: String?, cause: String) {
    self.directory = directory
    self.cause = cause
  }

  init(_ directory: String, _ error: NetworkError) {
    let meaning = error.reason.flatMap { Self.meanings[$0] }
    self.init(directory: directory, cause: "\(error)" + (meaning.map { ": \($0)" } ?? ""))
  }

  var description: String {
    "cannot use the cache\(directory.map { " in \($0)" } ?? ""): \(cause)"
  }

  /// For commands that can do without.
  var withAdvice: String { "\(self); --no-cache fetches without it" }

  /// The library's words for people.
  static let meanings = [
    "permissions": "it must be writable for this user and for nobody else",
    "owner": "it belongs to another user",
    "remoteFileSystem": "it is on a network file system, where it cannot be shared safely",
    "readOnly": "it is on a read-only file system",
  ]
}
