#if DEBUG
import ArgumentParser
import Glibc
@testable import TestSupport

struct KillCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kill", abstract: "Kills a program that freezes requests at any moment, again and again.",
    discussion: """
      Each cycle starts a worker on the same store and kills it after 0 to 300 ms; every tenth is killed up to five \
      times more while it starts. The origin fails, hangs, resets and drops as its seed says. Every 50 cycles a last \
      worker sends all that waits, and what was promised is held against what came.
      """)

  @Option(help: "How many cycles.") var cycles = 1_000
  @Option(help: "The same seed makes the same choices; what the machine makes of them differs.") var seed:
    UInt64 = 1
  @Option(help: "Where files are made; the temporary directory when nothing is said.") var directory: String?

  func run() throws {
    let bench = try CrashBench(seed: seed, base: directory ?? TestFiles.temporary)
    for cycle in 1...max(1, cycles) {
      try bench.live(milliseconds: Int32(bench.random.below(301)))
      if cycle % 10 == 0 {
        for _ in 0..<bench.random.below(6) {
          try bench.live(milliseconds: Int32(bench.random.below(60)), load: 5)
        }
      }
      if cycle % 50 == 0 || cycle == cycles { try bench.settle() }
    }
    guard bench.report("kill: seed \(seed), \(cycles) cycles") else { throw ExitCode(1) }
  }
}

/// The process that is killed.
struct WorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker", abstract: "A program that freezes requests.", shouldDisplay: false)

  @OptionGroup var settings: Worker.Settings
  @Option var drain: Double?

  func run() throws {
    let worker = try Worker(settings)
    worker.begin()
    if let drain {
      if !worker.drain(seconds: drain) { throw ExitCode(1) }
    } else {
      while true { sleep(60) }
    }
  }
}
#endif
