import ArgumentParser
import NetSpool

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
    let console = Console.standardError()
    do {
      throw ExitCode(try GetRun(options: options, console: console, stop: stop).run().code)
    } catch let error as NetworkError {
      console.message("netspool: \(error)")
      throw ExitCode(JobStatus.usage.code)
    } catch let failure as CacheFailure {
      console.message("netspool: \(failure)")
      throw ExitCode(JobStatus.localIO.code)
    } catch let failure as IOFailure {
      console.message("netspool: \(failure)")
      throw ExitCode(JobStatus.localIO.code)
    }
  }
}
