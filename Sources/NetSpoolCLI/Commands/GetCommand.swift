import ArgumentParser

/// `netspool get`: one request.
struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Send one request and write the body to standard output or a file.",
    discussion: """
      A status of 400 or more ends with exit status 1; without -o its body is written all the same, as curl \
      does it. The cache is left alone unless --cached or --cache asks for it.
      """)

  @OptionGroup var options: GetOptions

  func run() throws {
    let stop = StopSwitch()
    SignalWatcher.start(stop)
    try JobStatus.exit(Console.standardError()) { console in
      try GetRun(options: options, console: console, stop: stop).run()
    }
  }
}
