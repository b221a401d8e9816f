import Dispatch

/// Runs what blocks on a thread of its own. Swift's pool has as many threads as cores: a test that waits in one
/// holds up all others, among them the one that it waits for.
func blocking<Value: Sendable, Problem: Error>(
  _ body: @escaping @Sendable () throws(Problem) -> Value
) async throws(Problem) -> Value {
  let result = await withCheckedContinuation {
    (continuation: CheckedContinuation<Result<Value, Problem>, Never>) in
    DispatchQueue(label: "tests.blocking").async { continuation.resume(returning: Result(catching: body)) }
  }
  return try result.get()
}
