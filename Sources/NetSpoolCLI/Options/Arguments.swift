import ArgumentParser
import NetSpool

// How each kind of value is read from the command line; a wrong one ends with status 64 and a sentence.

/// A value that is read from a text, nil for one that says nothing.
protocol TextValue: ExpressibleByArgument { init?(_ text: String) }

extension TextValue { init?(argument: String) { self.init(argument) } }

extension ByteSize: TextValue {}
extension Shard: TextValue {}
extension ErrorBudget: TextValue {}
extension RateLimiter: TextValue {}
extension TimeSpan: TextValue { var defaultValueDescription: String { description } }
extension ProgressMode: ExpressibleByArgument {}

/// `--jobs`: how many transfers at once.
enum Jobs: Equatable, Sendable, ExpressibleByArgument {
  /// The queue finds each origin's best width by itself.
  case auto
  case fixed(Int)

  static let countMax = 1_024

  init?(argument: String) {
    let count = Shard.number(argument).flatMap { (1...Self.countMax).contains($0) ? Self.fixed($0) : nil }
    guard let jobs = argument == "auto" ? .auto : count else { return nil }
    self = jobs
  }
}

/// What cannot be run, found out only when it was tried: for most a command line.
struct Mistake: Error, Equatable, CustomStringConvertible {
  let description: String
  var status = JobStatus.usage
  init(_ sentence: String, _ status: JobStatus = .usage) { (description, self.status) = (sentence, status) }
}

/// Throws a mistake that a command line alone shows.
func refuse(_ isWrong: Bool, _ sentence: @autoclosure () -> String) throws {
  if isWrong { throw ValidationError(sentence()) }
}

/// The same for standard input, which can be read once.
func refuseTwoInputs(_ names: [String]) throws {
  try refuse(names.count { $0 == "-" } > 1, "'-' can be given once: standard input can be read once.")
}

/// A command that ends with a status: its own, or that of what it throws, with a line on standard error.
protocol StatusCommand: ParsableCommand { func run(_ console: Console) throws -> JobStatus }

extension StatusCommand {
  func run() throws {
    let console = Console.standardError()
    let status: JobStatus
    do { status = try run(console) } catch {
      console.message("netspool: \(FailureAdvice.sentence(error))")
      status = .status(of: error)
    }
    throw ExitCode(status.code)
  }
}

extension JobStatus {
  /// Settings that the library refuses and a missing password are the command line's; everything else is about this machine.
  static func status(of error: any Error) -> JobStatus {
    if let mistake = error as? Mistake { return mistake.status }
    if (error as? IOFailure)?.isOfCommandLine == true { return .usage }
    return (error as? NetworkError)?.isOfCommandLine == true ? .usage : .localIO
  }
}

extension NetworkError {
  /// Refused before anything was sent, because of what was asked.
  var isOfCommandLine: Bool { [.invalidURL, .invalidRequest, .invalidConfiguration].contains(code) }
}
