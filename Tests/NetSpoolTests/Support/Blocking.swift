import Dispatch

/// Runs what blocks on a thread of its own. Swift's pool has as many threads as cores: a test that waits in one
/// holds up all others, among them the one that it waits for.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "tests.blocking").async { continuation.resume(with: Swift.Result { try body() }) }
  }
}
