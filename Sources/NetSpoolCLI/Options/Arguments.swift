import ArgumentParser
import NetSpool

// How each kind of value is read from the command line; a wrong one ends with status 64 and a sentence.

/// A value that is read from a text, nil for one that says nothing.
protocol TextValue: ExpressibleByArgument {
  init?(_ text: String)
}

extension TextValue {
  init?(argument: String) { self.init(argument) }
}

extension PlacedText: TextValue {}
extension ByteSize: TextValue {}
extension Shard: TextValue {}
extension ErrorBudget: TextValue {}
extension RateLimiter: TextValue {}
extension TimeSpan: TextValue {
  var defaultValueDescription: String { description }
}
extension ProgressMode: ExpressibleByArgument {}

/// `--jobs`: how many transfers at once.
enum Jobs: Equatable, Sendable, ExpressibleByArgument {
  /// The queue finds each origin's best width by itself.
  case auto
  case fixed(Int)

  static let countMax = 1_024

  init?(argument: String) {
    if argument == "auto" {
      self = .auto
    } else if let count = Shard.number(argument), (1...Self.countMax).contains(count) {
      self = .fixed(count)
    } else {
      return nil
    }
  }
}

/// What cannot be run, found out only when it was tried: for most a command line.
struct Mistake: Error, Equatable, CustomStringConvertible {
  let description: String
  var status = JobStatus.usage
  init(_ sentence: String, _ status: JobStatus = .usage) { (description, self.status) = (sentence, status) }
}

/// `priority=` in a list: the class of a request in the queue.
enum PriorityName: String, CaseIterable, Sendable {
  case low, normal, high, urgent
}

/// Throws a mistake that a command line alone shows.
func refuse(_ isWrong: Bool, _ sentence: @autoclosure () -> String) throws {
  if isWrong { throw ValidationError(sentence()) }
}

extension JobStatus {
  /// Ends the command with the status of the body, or with that of what it throws and a line on standard error.
  static func exit(_ body: (Console) throws -> JobStatus) throws -> Never {
    let console = Console.standardError()
    do {
      throw ExitCode(try body(console).code)
    } catch let exit as ExitCode {
      throw exit
    } catch {
      console.message("netspool: \(FailureAdvice.sentence(error))")
      throw ExitCode(status(of: error).code)
    }
  }

  /// Settings that the library refuses and a missing password are the command line's; everything else is about this machine.
  static func status(of error: any Error) -> JobStatus {
    if let mistake = error as? Mistake { return mistake.status }
    return (error as? NetworkError)?.isOfCommandLine == true ? .usage : .localIO
  }
}

extension NetworkError {
  /// Refused before anything was sent, because of what was asked.
  var isOfCommandLine: Bool { [.invalidURL, .invalidRequest, .invalidConfiguration].contains(code) }
}
