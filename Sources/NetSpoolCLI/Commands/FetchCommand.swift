import ArgumentParser
import NetSpool

/// `netspool fetch`: a list of URLs through the queue.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Fetch a list of URLs, of any length.",
    discussion: """
      What may be cached is (RFC 9111), so a second run asks only for what is not fresh any more. Without --output \
      the bodies fill the cache and go nowhere else. A second run with the same --results and --resume fetches \
      what is left. The first Ctrl-C lets what is under way end, the second quits. Answers to requests with \
      Authorization or Cookie are cached for the run only.
      """)

  @OptionGroup var options: FetchOptions

  func run() throws {
    let stop = StopSwitch()
    SignalWatcher.start(stop)
    FileLimit.raise()
    throw ExitCode(status(stop).code)
  }

  private func status(_ stop: StopSwitch) -> JobStatus {
    let console = Console.standardError()
    do throws(IOFailure) {
      let run = FetchRun(
        options: options, console: console, arguments: Array(CommandLine.arguments.dropFirst()), stop: stop,
        reactor: try PollReactor())
      return run.runOnNetwork()
    } catch {
      console.message("netspool: \(error)")
      return .localIO
    }
  }
}

extension FetchRun {
  /// Runs with a real network, which is gone when this returns: with it go half-written files.
  func runOnNetwork() -> JobStatus {
    var fetcher: EngineFetcher?
    defer { fetcher?.close() }
    return run { options, folder in
      var cache = try options.cache.settings(environment)
      cache?.clock = cacheClock
      let made = try EngineFetcher(
        options, folder, cache: cache, temporary: Ledger.temporaryDirectory(environment))
      fetcher = made
      return made
    }
  }
}
