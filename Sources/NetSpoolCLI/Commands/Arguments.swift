import ArgumentParser

// How each kind of value is read from the command line; a wrong one ends with status 64 and a sentence.

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

/// `--priority`: the class of all requests in the queue.
enum PriorityName: String, CaseIterable, Sendable, ExpressibleByArgument {
  case low, normal, high, urgent
}
