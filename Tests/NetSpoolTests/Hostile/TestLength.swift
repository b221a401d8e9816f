import Glibc

/// How much time the tests may take.
enum TestLength {
  /// NETSPOOL_LONG is set: large bodies, long runs.
  static let isLong = unsafe getenv("NETSPOOL_LONG") != nil
}
