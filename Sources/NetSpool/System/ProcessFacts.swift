internal import Glibc

/// The directories for a user's files (XDG Base Directory Specification).
enum UserDirectories {
  /// For what can be made again: `$XDG_CACHE_HOME`, else `~/.cache`; nil without either.
  static var cache: String? { place("XDG_CACHE_HOME", "/.cache") }

  /// For what must be kept: `$XDG_STATE_HOME`, else `~/.local/state`; nil without either.
  static var state: String? { place("XDG_STATE_HOME", "/.local/state") }

  /// A relative path in the variable counts as none, as the specification demands.
  private static func place(_ variable: String, _ fallback: String) -> String? {
    if let own = ProcessEnvironment.value(variable), own.hasPrefix("/") { return own }
    return ProcessEnvironment.value("HOME").flatMap { $0.hasPrefix("/") ? $0 + fallback : nil }
  }
}

/// The variables that the process was started with.
enum ProcessEnvironment {
  /// A variable's value; nil when it is not set, or empty.
  static func value(_ name: String) -> String? {
    guard let text = unsafe getenv(name) else { return nil }
    let value = unsafe String(cString: text)
    return value.isEmpty ? nil : value
  }
}

/// What the program is called.
enum ProcessName {
  /// The program's file name, as a token that may stand in a header field.
  static let token: String = {
    let path = CommandLine.arguments.first ?? ""
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let kept = name.utf8.filter { $0.isTokenByte }
    return kept.isEmpty ? "netspool" : String(decoding: kept, as: UTF8.self)
  }()
}
