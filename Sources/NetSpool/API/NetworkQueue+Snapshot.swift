extension NetworkQueue {
  /// The inside of a queue at one moment: for a status page, or a table like that of top(1).
  public struct Snapshot: Sendable, Hashable {
    /// The whole queue's numbers.
    public internal(set) var activity: Activity
    /// Each origin that something is or was asked of lately, the busiest first.
    public internal(set) var origins: [OriginSnapshot] = []
  }

  /// An origin in a queue.
  public struct OriginSnapshot: Sendable, Hashable {
    /// `scheme://host[:port]`
    public internal(set) var origin: String
    /// The requests that it gets at once now; 0 while it has asked for quiet.
    public internal(set) var width: Int
    /// Exchanges under way.
    public internal(set) var running: Int
    /// Requests that wait for their turn.
    public internal(set) var waiting: Int
    /// The time between two starts, where it allows so many in a second; nil where starts are not spread.
    public internal(set) var pace: Duration?
    /// The time until it may be asked again (`Retry-After`); nil when it may be asked now.
    public internal(set) var quiet: Duration?
    /// Its health, if that is watched: ``NetworkEngine/reachability``, frozen requests, `waitsForOrigin`.
    /// Else nil.
    public internal(set) var health: NetworkEngine.Reachability?
    /// Open connections to it, those of all engines together.
    public internal(set) var connections: Int
  }

  /// The inside of the queue. Asks the loop, in whose turn it is made; costs about a microsecond for each
  /// origin. Empty before the first request and after the queue's end.
  public var snapshot: Snapshot {
    get async {
      await withCheckedContinuation { continuation in driver.snapshot { continuation.resume(returning: $0) } }
    }
  }
}
