import NetSpool

/// A thing to fetch: what the job hands to the network.
struct FetchItem: Equatable, Sendable {
  /// Counts up from 0 in the order of starting.
  let id: Int
  let url: String
  /// The file name relative to the output folder; nil when only the cache is to be filled.
  let output: String?
  /// What its line says besides.
  var options = LineOptions()
}

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

    /// By what the library says of a code (`FailureTraits`), or the HTTP status for the code `status`.
    init(_ code: NetworkError.Code, status: Int? = nil, errno: Int32? = nil) {
      if code == .status {
        self = status.map(Self.mayPass) ?? true ? .forNow : .forGood
      } else if code.isLocal {
        self = .local(errno: errno ?? 0)
      } else {
        self = code.recurs ? .forGood : .forNow
      }
    }

    /// 408, 425, 429 and 5xx, but not 501, 505 and 511, which say what the server cannot do at all.
    private static func mayPass(_ status: Int) -> Bool {
      switch status {
      case 408, 425, 429: true
      case 501, 505, 511: false
      default: status >= 500
      }
    }
  }

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
  var status: Int?
  var bytes: Int64 = 0
  var source: NetworkResponse.Source?
  /// The error's code and its cause: `timedOut` and `stall`.
  var error: String?
  var reason: String?
  var attempts = 1
  /// Nil where results do not say it.
  var timings: Timings? = Timings()
  var retryAfter: String?
  /// Lower-case hex, with `--checksum`.
  var sha256: String?
  var finalURL: String?
  var contentType: String?
  var etag: String?
  var picture: PictureFacts?
  /// What the answer says that the file is called, with `--names`.
  var name: String?
  /// Where the body is that has landed elsewhere first.
  var place: Place?

  /// What an item's body is called, and its tar if it is in one.
  struct Place: Equatable, Sendable {
    let member: String
    var tar: String?
  }

  /// A thumbnail that was written; `bytes` is its own size.
  struct PictureFacts: Equatable, Sendable {
    var width = 0
    var height = 0
    var format = ""
    /// Bytes of the picture that it was made of.
    var sourceBytes: Int64 = 0
    /// What was asked for: `256 contain webp`.
    var transform = ""
  }

  init(_ ending: Ending) { self.ending = ending }
}

/// The network as the job sees it: one small adapter implements it, and a gate in the tests.
protocol Fetcher: AnyObject {
  /// Begins one fetch. `completion` is called exactly once, on any thread, also before `start` returns.
  func start(_ item: FetchItem, completion: @escaping @Sendable (FetchOutcome) -> Void)

  /// Bodies come faster than they are written into the cache, which would give some of them up.
  var isAheadOfCache: Bool { get }

  /// Answers that the cache has given up so far.
  var unstored: Int { get }

  /// Ends what has not been sent yet with `.cancelled`; what is under way goes on.
  func cancelWaiting()

  func cancelAll()

  /// Ends it; what still runs ends as cancelled. Answers what could not be written.
  func close() -> IOFailure?
}
