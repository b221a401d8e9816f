/// How one fetch ended: what the network hands back to the job.
struct FetchOutcome: Equatable, Sendable {
  enum Ending: Equatable, Sendable {
    case done
    case failed(Permanence)
    /// Ended by `cancelWaiting` or `cancelAll`: not counted, not written, taken up again by `--resume`.
    case cancelled
  }

  /// What a failure means for a second run.
  enum Permanence: Equatable, Sendable {
    /// 404, an unusable URL: the same next time.
    case forGood
    /// 503, a time-out, no network: may well work next time.
    case forNow
    /// This machine's disk, with the `errno`.
    case local(errno: Int32)
  }

  /// Where the body came from.
  enum Source: String, Sendable { case network, cache, revalidated }

  /// Microseconds from the start of each phase's wait to its end; 0 where there was none.
  struct Timings: Equatable, Sendable {
    var queue: Int64 = 0
    var dns: Int64 = 0
    var connect: Int64 = 0
    var tls: Int64 = 0
    var firstByte: Int64 = 0
    var total: Int64 = 0
  }

  var ending: Ending
  /// The HTTP status, when there was an answer.
  var status: Int?
  /// Bytes of the body.
  var bytes: Int64 = 0
  var source: Source?
  /// The error's code and its cause: `timedOut` and `stall`.
  var error: String?
  var reason: String?
  var attempts = 1
  var timings = Timings()
  /// Lower-case hex, with `--checksum`.
  var sha256: String?

  init(_ ending: Ending) { self.ending = ending }
}
