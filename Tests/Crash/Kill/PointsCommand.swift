#if DEBUG
import ArgumentParser
@testable import NetSpool
@testable import TestSupport

struct PointsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "points", abstract: "Kills a program that freezes requests at each of sixteen known places.",
    discussion: """
      Each round kills one worker at every place, at a random pass of it; a worker that never comes there is a fault. \
      After each round a last worker sends all that waits. Only a debug build has the places.
      """)

  @Option(help: "How many rounds.") var rounds = 50
  @Option(help: "The same seed makes the same choices; what the machine makes of them differs.") var seed:
    UInt64 = 1
  @Option(help: "Where files are made; the temporary directory when nothing is said.") var directory: String?
  @Option(help: "This place only.") var place: String?

  /// Much longer than it takes to come anywhere.
  private static let patience: Int32 = 20_000

  func run() throws {
    let points = Failpoint.allCases.filter { place == nil || place == $0.rawValue }
    let bench = try CrashBench(seed: seed, base: directory ?? TestFiles.temporary)
    for _ in 0..<rounds {
      for point in points { try kill(bench, point) }
      try bench.settle()
    }
    let title = "points: seed \(seed), \(place ?? "\(points.count) places"), \(rounds) rounds"
    guard bench.report(title) else { throw ExitCode(1) }
  }

  /// Who dies while it starts may do so again.
  private func kill(_ bench: CrashBench, _ place: Failpoint) throws {
    for _ in 0..<(place == .duringRecovery ? 1 + bench.random.below(5) : 1) {
      let armed = "\(place.rawValue):\(1 + bench.random.below(Self.passesMax(place)))"
      if try bench.live(milliseconds: Self.patience, load: 20, failpoint: armed) == nil {
        bench.neverCame(to: armed)
      }
    }
  }

  /// How often a worker comes there for certain.
  private static func passesMax(_ place: Failpoint) -> Int {
    switch place {
    case .duringRecovery: 2
    // When the store was opened, and then not for an hour.
    case .duringCompaction: 1
    default: 12
    }
  }
}
#endif
