import Glibc

/// Reads environment variables. A value, so that tests bring their own.
struct Environment: Sendable {
  private let read: @Sendable (String) -> String?

  /// The process's own.
  static let process = Environment { name in
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  init(_ read: @escaping @Sendable (String) -> String?) { self.read = read }

  init(_ values: [String: String]) { read = { values[$0] } }

  /// The value, or nil when unset or empty.
  subscript(_ name: String) -> String? {
    guard let value = read(name), !value.isEmpty else { return nil }
    return value
  }
}
