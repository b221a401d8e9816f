import ArgumentParser

/// The options of `netspool demo`.
struct DemoOptions: ParsableArguments {
  @Option(help: ArgumentHelp("How many thumbnails the loopback origin offers.", valueName: "n"))
  var count = 3_000

  @Option(help: ArgumentHelp("Transfers at once: auto, or 1 to 1024.", valueName: "auto|n"))
  var jobs = Jobs.auto

  @Option(help: "Progress on standard error: auto, always, never, lines.")
  var progress = ProgressMode.auto

  @Flag(name: [.short, .long], help: "Only the numbers at the end.")
  var quiet = false

  static let countMax = 1_000_000

  func validate() throws {
    guard (1...Self.countMax).contains(count) else {
      throw ValidationError("--count is a number from 1 to \(HumanText.count(Self.countMax)).")
    }
  }
}
