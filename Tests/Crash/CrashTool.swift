// The crash tests look into stores through `@testable`, which only a debug build allows; in any other this program
// says so and ends.
#if DEBUG
import ArgumentParser
@testable import TestSupport

/// Kills processes that freeze requests, and takes their power away, and looks whether anything that was promised is
/// lost.
@main
struct CrashTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "netspool-crash",
    abstract: "Crash tests of frozen requests: what was said to be accepted must survive.",
    discussion: "Exit status: 0 all promises were kept, 1 one was broken, 2 a round could not be played.",
    subcommands: [
      KillCommand.self, PointsCommand.self, PowerCommand.self, WorkerCommand.self, LifeCommand.self,
    ])

  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch let error as PartFailure {
      CrashFiles.say("netspool-crash: \(error)", to: 2)
      Self.exit(withError: ExitCode(2))
    } catch {
      Self.exit(withError: error)
    }
  }
}
#else
@main
struct CrashTool {
  static func main() { print("netspool-crash: build it with the debug configuration") }
}
#endif
