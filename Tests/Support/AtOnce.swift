/// Runs so many tasks at the same time, each with its number, and waits until all have ended.
func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for number in 0..<count { group.addTask { try await body(number) } }
    try await group.waitForAll()
  }
}
