import ArgumentParser
import NetSpool

// How each kind of value is read from the command line; a wrong one ends with status 64 and a sentence.

extension PlacedText: ExpressibleByArgument {
  init(argument: String) { self.init(argument) }
}

extension ByteSize: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension TimeSpan: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }

  var defaultValueDescription: String { description }
}

extension Shard: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension ErrorBudget: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension RateLimiter: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
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

/// A command line that cannot be run, found out only when it was tried.
struct Mistake: Error, Equatable, CustomStringConvertible {
  let description: String
  init(_ sentence: String) { description = sentence }
}

/// `priority=` in a list: the class of a request in the queue.
enum PriorityName: String, CaseIterable, Sendable {
  case low, normal, high, urgent
}

extension JobStatus {
  /// Ends the command with the status of the body, or with that of what it throws and a line on standard error.
  static func exit(_ console: Console, _ body: (Console) throws -> JobStatus) throws -> Never {
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
    let isOfCommandLine = (error as? NetworkError)?.isOfCommandLine ?? false
    return isOfCommandLine || error is CredentialOptions.Missing || error is Mistake ? .usage : .localIO
  }
}

extension NetworkError {
  /// Refused before anything was sent, because of what was asked.
  var isOfCommandLine: Bool { [.invalidURL, .invalidRequest, .invalidConfiguration].contains(code) }
}
