import NetSpool

/// A store of frozen requests that cannot be used. Ends a command with status 74: nothing was kept.
struct FrozenFailure: Error, Equatable, CustomStringConvertible {
  /// Nil when nothing says where it is.
  let directory: String?
  let cause: String

  static let nowhere = FrozenFailure(
    directory: nil,
    cause: "neither XDG_STATE_HOME nor HOME names an absolute path; --frozen-store names a folder")

  static func noDirectory(_ path: String) -> FrozenFailure {
    FrozenFailure(directory: path, cause: "it is no directory")
  }

  private init(directory: String?, cause: String) {
    self.directory = directory
    self.cause = cause
  }

  init(_ directory: String, _ error: NetworkError) {
    self.init(directory: directory, cause: Self.owner(error).map { "\($0) has it" } ?? Self.text(error))
  }

  var description: String {
    "cannot use the frozen store\(directory.map { " in \($0)" } ?? ""): \(cause)"
  }

  /// `process 42 (netspool)`; nil when that is not what is wrong.
  static func owner(_ error: NetworkError) -> String? {
    guard error.code == .storeInUse else { return nil }
    guard let process = error.reason else { return "another process" }
    return "process \(process)" + (ProcessName.of(process).map { " (\($0))" } ?? "")
  }

  private static func text(_ error: NetworkError) -> String {
    "\(error)" + (error.reason.flatMap { CacheFailure.meanings[$0] }.map { ": \($0)" } ?? "")
  }
}
