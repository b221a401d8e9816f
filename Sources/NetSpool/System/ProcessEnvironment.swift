internal import Glibc

enum ProcessEnvironment {
  /// Nil when it is not set, or empty.
  static func value(_ name: String) -> String? {
    guard let text = unsafe getenv(name) else { return nil }
    let value = unsafe String(cString: text)
    return value.isEmpty ? nil : value
  }
}
