import Dispatch

/// Runs what blocks where it takes no thread away from the tests' tasks.
func onOwnThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "blocking").async { continuation.resume(with: Result { try body() }) }
  }
}
