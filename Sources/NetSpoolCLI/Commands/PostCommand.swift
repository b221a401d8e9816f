import ArgumentParser

/// `netspool post`: one request that changes something.
struct PostCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Send a form, a file or JSON, now or as soon as it can be sent.",
    discussion: """
      With --freeze the request is on disk before its first byte leaves, and is sent again after a dead link, a dead \
      server, a crash or a restart: the same bytes with the same Idempotency-Key. Standard output gets its ticket, \
      then the answer's body. A request that was interrupted is sent by 'netspool frozen thaw', or by the next \
      'post --freeze'. Values of secret headers (Authorization, Cookie, X-...-Key and their like) are never written to \
      the disk: 'frozen thaw --header' gives them again.
      Exit status: 0 answered, or frozen with --detach; 1 refused; 2 it stays frozen; 64 usage; 74 a local file or the \
      frozen store cannot be used; 130 and 143 stopped by a signal.
      """)

  @OptionGroup var options: PostOptions

  func run() throws {
    let stop = StopSwitch()
    SignalWatcher.start(stop)
    try JobStatus.exit(Console.standardError()) { console in
      if options.freezing.freeze && !options.curl {
        return try FrozenPost(options: options, console: console, stop: stop).run()
      }
      return try GetRun(options: options, console: console, stop: stop).run()
    }
  }
}
