import Testing

@testable import TestSupport

/// Whatever is done at whatever point of an exchange, each operation ends once. A seed says what chance does.
@Suite("Interference")
struct InterferenceTests {
  private static let seeds: ClosedRange<UInt64> = LongRun.isOn ? 1...1_000 : 1...3

  @Test(arguments: Interference.Point.allCases, Interference.Action.allCases)
  func `leaves one ending each`(_ point: Interference.Point, _ action: Interference.Action) async throws {
    for seed in Self.seeds { try await Interference(point: point, action: action, seed: seed).run() }
  }
}
