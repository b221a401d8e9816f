/// What the process tells its caller.
enum JobStatus: Equatable, Sendable {
  case allDone
  /// Some failed, and all of those for good: a second run would not help.
  case failedForGood
  /// Some failed for now, possibly beside others that failed for good: run again.
  case failedForNow
  case tooManyErrors
  /// The command line makes no sense (`EX_USAGE`).
  case usage
  /// A list, output or results file could not be read or written (`EX_IOERR`).
  case localIO
  /// Drained after a signal: 130 for SIGINT, 143 for SIGTERM.
  case signal(Int32)

  var code: Int32 {
    switch self {
    case .allDone: 0
    case .failedForGood: 1
    case .failedForNow: 2
    case .tooManyErrors: 3
    case .usage: 64
    case .localIO: 74
    case .signal(let number): 128 + number
    }
  }
}
