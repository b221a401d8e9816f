internal import Glibc

/// Where a user's files belong (XDG Base Directory Specification).
enum UserDirectories {
  /// For what can be made again: `$XDG_CACHE_HOME`, else `~/.cache`; nil without either.
  static var cache: String? { place("XDG_CACHE_HOME", "/.cache") }

  /// For what must be kept: `$XDG_STATE_HOME`, else `~/.local/state`; nil without either.
  static var state: String? { place("XDG_STATE_HOME", "/.local/state") }

  /// A relative path in the variable counts as none, as the specification demands.
  private static func place(_ variable: String, _ fallback: String) -> String? {
    if let own = value(variable), own.hasPrefix("/") { return own }
    return value("HOME").flatMap { $0.hasPrefix("/") ? $0 + fallback : nil }
  }

  private static func value(_ name: String) -> String? {
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe String(cString: text)
  }
}
