import Glibc
import NetSpool

/// A cache or a store of frozen requests that cannot be used. Ends a command with status 74, unless another process only keeps
/// a cache busy: going on without would be a surprise, and what was to be frozen was not kept.
struct StoreFailure: Error, Equatable, CustomStringConvertible {
  enum Store: String, Sendable { case cache, frozen = "frozen store" }

  let store: Store
  /// Nil when nothing says where it is.
  var directory: String?
  let cause: String

  static func nowhere(_ store: Store) -> StoreFailure {
    let (variable, option) =
      store == .cache ? ("XDG_CACHE_HOME", "--cache") : ("XDG_STATE_HOME", "--frozen-store")
    return StoreFailure(
      store: store, cause: "neither \(variable) nor HOME names an absolute path; \(option) names a folder")
  }

  static func noDirectory(_ store: Store, _ path: String) -> StoreFailure {
    StoreFailure(store: store, directory: path, cause: "it is no directory")
  }

  static func of(_ store: Store, _ directory: String, _ error: NetworkError) -> StoreFailure {
    let owner = store == .frozen ? owner(error).map { "\($0) has it" } : nil
    return StoreFailure(store: store, directory: directory, cause: owner ?? sentence(error))
  }

  var description: String {
    "cannot use the \(store.rawValue)\(directory.map { " in \($0)" } ?? ""): \(cause)"
  }

  /// `process 42 (netspool)`; nil when that is not what is wrong.
  static func owner(_ error: NetworkError) -> String? {
    guard error.code == .storeInUse, error.cause != .layout else { return nil }
    guard let process = error.subject else { return "another process" }
    return "process \(process)" + (name(of: process).map { " (\($0))" } ?? "")
  }

  /// As `ps -o comm` shows it; nil for a process that is not there, or in another namespace (proc(5)).
  private static func name(of process: String) -> String? {
    let bytes = try? Descriptor(opening: "/proc/\(process)/comm", O_RDONLY).readAll(atMost: 64)
    let name = bytes.map { String(decoding: $0.prefix { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self) }
    return name?.isEmpty == true ? nil : name
  }

  /// Why a store cannot be used, with what that means.
  private static func sentence(_ error: NetworkError) -> String {
    let meaning: String? =
      switch error.cause {
      case .permissions: "it must be writable for this user and for nobody else"
      case .owner: "it belongs to another user"
      case .remoteFileSystem: "it is on a network file system, where it cannot be shared safely"
      case .readOnly: "it is on a read-only file system"
      case .opening, .writing: "another process keeps it for itself"
      default: nil
      }
    let failure = FailureWords.known(error.code.description, error.reason, nil) ?? "\(error)"
    return failure + (meaning.map { ": \($0)" } ?? "")
  }
}
