import ArgumentParser

/// `netspool demo`: a fetch with everything that goes wrong, and no network needed.
struct DemoCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Show a fetch with all that can go wrong, without any outside network.",
    discussion: """
      An origin on loopback offers thumbnails: some slow, some missing, some cut off, some busy; then it goes \
      down. The list is fetched again from the cache, and once more when the cache has to ask. A form that is \
      posted while the origin is down is frozen, and sent when it is back. Everything fetched is compared byte \
      for byte. Takes a few seconds, leaves nothing behind, and ends with a line such as 'demo: all 25 checks \
      passed', or with exit status 1.
      """)

  @Option(help: ArgumentHelp("How many thumbnails the loopback origin offers.", valueName: "n")) var count =
    3_000
  @Option(help: ArgumentHelp("Transfers at once: auto, or 1 to 1024.", valueName: "auto|n")) var jobs = Jobs
    .auto
  @Option(help: "Progress on standard error: auto, always, never, lines.") var progress = ProgressMode.auto
  @Flag(name: [.short, .long], help: "Only the numbers at the end.") var quiet = false

  static let countMax = 1_000_000

  func validate() throws {
    try refuse(
      !(1...Self.countMax).contains(count), "--count is a number from 1 to \(HumanText.count(Self.countMax))."
    )
  }

  func run(_ console: Console) throws -> JobStatus {
    let stop = StopSwitch.onSignals
    FileLimit.raise()
    return try DemoRun(self, environment: .process, stop: stop, reactor: try PollReactor()).run()
  }
}
