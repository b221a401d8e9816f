import ArgumentParser

/// `netspool demo`: a fetch with everything that goes wrong, and no network needed.
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Show a fetch with all that can go wrong, without any outside network.",
    discussion: """
      An origin on loopback offers thumbnails: some slow, some missing, some cut off, some busy; then it goes \
      down. The list is fetched again from the cache, and once more when the cache has to ask. A form that is \
      posted while the origin is down is frozen, and sent when it is back. Everything fetched is compared byte \
      for byte. Takes a few seconds, leaves nothing behind, and ends with a line such as 'demo: all 28 checks \
      passed', or with exit status 1.
      """)

  @OptionGroup var options: DemoOptions

  func run() throws {
    let stop = StopSwitch()
    SignalWatcher.start(stop)
    FileLimit.raise()
    throw ExitCode(status(stop).code)
  }

  private func status(_ stop: StopSwitch) -> JobStatus {
    do {
      let reactor = try PollReactor()
      return try DemoRun(options, environment: .process, stop: stop, reactor: reactor).run()
    } catch {
      Console.standardError().message("netspool: \(error)")
      return .localIO
    }
  }
}
