#if DEBUG
import ArgumentParser
@testable import TestSupport

extension DiskLie: ExpressibleByArgument {}

struct PowerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power", abstract: "What a power loss leaves of a store, again and again.",
    discussion: """
      Records what a store writes and syncs and what is said meanwhile, cuts the record anywhere, applies what was \
      synced and any part of the rest, torn at pages or sectors, and opens the result.
      """)

  @Option(help: "How many states to look at.") var states = 1_000
  @Option(help: "The same seed makes the same choices.") var seed: UInt64 = 1
  @Option(help: "Where files are made; in memory when nothing is said.") var directory: String?
  @Option(help: "What the disk says it has synced and has not: promises must break.") var lie: DiskLie?

  func run() throws {
    let loss = PowerLoss(seed: seed, states: states, base: directory ?? TestFiles.fast, lie: lie)
    let verdict = try loss.run()
    for fault in verdict.faults { CrashFiles.say("  \(fault)") }
    CrashFiles.say(
      "power: seed \(seed), \(verdict.states) states of \(verdict.traces) records, "
        + "\(verdict.acknowledged) acknowledged: \(verdict.broken) broken")
    if verdict.broken > 0 { throw ExitCode(1) }
  }
}

/// The process that is recorded.
struct LifeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "life", abstract: "One life of a process that freezes requests.", shouldDisplay: false)

  @Option var directory: String
  @Option var seed: UInt64
  @Option var steps: Int
  @Option var answers: Int

  func run() throws {
    try RecordedLife(directory: directory, seed: seed, answersMax: answers).run(steps: steps)
  }
}
#endif
