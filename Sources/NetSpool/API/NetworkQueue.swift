internal import Synchronization

/// The one line behind all engines: it decides what runs now, on one loop thread that starts with the first
/// operation, or on several (``Configuration/loops``). All engines share `.shared` unless told otherwise, so that uploads of one cannot starve
/// thumbnails of another.
///
/// Any thread may call anything here; settings count at once, also for what already waits.
public final class NetworkQueue: Sendable {
  /// The process's queue.
  public static let shared = NetworkQueue(unchecked: Configuration())

  let driver: QueueDriver

  /// A queue of its own, with its own loop threads. Throws `.invalidConfiguration`.
  public init(configuration: Configuration = .init()) throws(NetworkError) {
    if let option = configuration.firstInvalid { throw .misconfigured(option) }
    driver = QueueDriver(configuration)
  }

  private init(unchecked configuration: Configuration) { driver = QueueDriver(configuration) }

  deinit { driver.abandon() }

  /// The settings of a queue.
  public struct Configuration: Sendable, Hashable {
    /// `.adaptive` by default.
    public var sizing = Sizing.adaptive
    /// Transfers at once, all origins together; 256. Those that have waited a second for an answer do not count while
    /// others might start, nor those that have gone on for 20 ms while an engine waits that has none; up to as many again.
    /// Below 1: `.invalidConfiguration`.
    public var maximumConcurrent = 256
    /// Transfers at once to one origin; 64. Of several `loops`, each that redirects or engines with cookies have led there has
    /// as many; see `splitsHotOrigins`. Below 1: `.invalidConfiguration`.
    public var maximumPerOrigin = 64
    /// Nothing new starts while true.
    public var isSuspended = false

    /// The number of threads of the queue; `.fixed(1)`. The value that it is made with counts: another value
    /// later, and a number below 1 or above 64, is `.invalidConfiguration`. Where it is not set the
    /// environment's `NETSPOOL_LOOPS` counts, if that is such a number.
    public var loops: Loops {
      get { chosenLoops ?? Loops.named ?? .fixed(1) }
      set { chosenLoops = newValue }
    }
    private var chosenLoops: Loops?
    /// Requests to one origin are on all `loops`, by their URLs, and not on one; false. So an origin that is asked for more
    /// than one processor can handle is served by several, and each loop has connections of its own and an equal part of what
    /// the origin may get at once, one at least. Equal requests share an answer as ever. Requests of the same priority
    /// may start in another order than they were enqueued in. An engine with cookies, and requests that freeze, are on
    /// one loop all the same, and have its part only. The value that the queue is made with counts: another one later is
    /// `.invalidConfiguration`.
    public var splitsHotOrigins = false
    /// A loop that had no transfer for so long closes its connections, and an origin that was not used for so
    /// long may be forgotten; short in tests.
    var connectionsIdleMax: Microseconds = 118_000_000

    /// All defaults.
    public init() {}

    var firstInvalid: String? {
      if !loops.isValid { return "loops" }
      if maximumConcurrent < 1 { return "maximumConcurrent" }
      if maximumPerOrigin < 1 { return "maximumPerOrigin" }
      return sizing.isValid ? nil : "sizing"
    }

    /// What a queue keeps as it was made with.
    func firstFixed(otherThan other: Self) -> String? {
      if loops != other.loops { return "loops" }
      return splitsHotOrigins == other.splitsHotOrigins ? nil : "splitsHotOrigins"
    }
  }

  /// The number of requests that an origin gets at once; each origin has its own count.
  public enum Sizing: Sendable, Hashable {
    /// Found out per origin from latency, errors, 429, 503 and Retry-After; starts at 6 and stays between 1 and
    /// `maximumPerOrigin`. See <doc:Sizing>.
    case adaptive
    /// Always so many.
    case fixed(Int)
    /// By the interface of the default route: `wwan`, `wwp`, `ppp` and `rmnet` are cellular, wired, Wi-Fi and all
    /// others local.
    case byLink(local: Int, cellular: Int)

    /// The kinds of link that `byLink` tells apart.
    enum Link: Hashable, Sendable { case local, cellular }

    /// True when every width in it is at least 1; others are refused as an invalid configuration.
    var isValid: Bool {
      switch self {
      case .adaptive: true
      case .fixed(let width): width >= 1
      case .byLink(let local, let cellular): local >= 1 && cellular >= 1
      }
    }
  }

  /// The settings in force.
  public var configuration: Configuration { driver.settings.withLock { $0 } }

  /// Changes the settings; nothing that runs is stopped. Throws `.invalidConfiguration` and changes nothing. The closure is
  /// called again when others have changed them meanwhile.
  public func configure(_ change: (inout Configuration) -> Void) throws(NetworkError) {
    var (old, new): (Configuration, Configuration)
    repeat {
      old = configuration
      new = old
      change(&new)
      if let option = new.firstInvalid ?? new.firstFixed(otherThan: old) { throw .misconfigured(option) }
    } while !driver.apply(new, over: old)
  }

  /// The number of requests that an origin gets at once. An invalid value is ignored; `configure` says so.
  public var sizing: Sizing {
    get { configuration.sizing }
    set { try? configure { $0.sizing = newValue } }
  }

  /// Transfers at once, all origins together; 256. Those that have waited a second for an answer do not count while
  /// others might start, nor those that have gone on for 20 ms while an engine waits that has none; up to as many again. A
  /// value below 1 is ignored; `configure` says so.
  public var maximumConcurrent: Int {
    get { configuration.maximumConcurrent }
    set { try? configure { $0.maximumConcurrent = newValue } }
  }

  /// Transfers at once to one origin; 64. A value below 1 is ignored; `configure` says so.
  public var maximumPerOrigin: Int {
    get { configuration.maximumPerOrigin }
    set { try? configure { $0.maximumPerOrigin = newValue } }
  }

  /// Nothing new starts while true; what runs goes on. False by default.
  public var isSuspended: Bool {
    get { configuration.isSuspended }
    set { try? configure { $0.isSuspended = newValue } }
  }

  /// The work of the queue; cheap enough to ask a thousand times a second.
  public struct Activity: Sendable, Hashable {
    /// Operations that wait.
    public let queued: Int
    /// Exchanges under way.
    public let running: Int
    /// Operations kept on disk until they can be sent.
    public let frozen: Int
    /// Body bytes received since the start.
    public let bytesIn: Int64
    /// Body bytes sent since the start.
    public let bytesOut: Int64

    /// Something waits or runs.
    public var isBusy: Bool { queued + running > 0 }
  }

  /// The work of the queue now.
  public var activity: Activity { driver.activity }

  /// Calls back when the number of waiting or running operations has changed, at most once per turn of the loop,
  /// on a serial queue of its own, which no other closure holds up. For a network activity indicator.
  public func onActivityChange(_ handler: @escaping @Sendable (Activity) -> Void) {
    driver.observers.add(activity: handler)
  }

  /// Calls back each time the last operation has ended and its closures have run. An answer that is awaited and that the cache has
  /// keeps no queue busy.
  public func onIdle(_ handler: @escaping @Sendable () -> Void) { driver.observers.add(idle: handler) }

  /// Waits until the queue is idle, the deadline has passed or the task is cancelled; true if it is idle.
  /// - Parameter deadline: 10 seconds unless told otherwise.
  @discardableResult
  public func drain(deadline: Duration = .seconds(10)) async -> Bool {
    let answer = FirstAnswer<Bool>()
    driver.drain(deadline: deadline) { answer.give($0) }
    return await withTaskCancellationHandler {
      await answer.value
    } onCancel: {
      answer.give(!activity.isBusy)
    }
  }

  /// The same for scripts: blocks. Traps when called from a closure of NetSpool, which would wait for itself.
  @discardableResult
  public func drainAndWait(deadline: Duration = .seconds(10)) -> Bool {
    guard !Delivery.isRunning else {
      fatalError("NetSpool: drainAndWait was called from a closure of NetSpool, which would wait for itself")
    }
    return FirstAnswer.wait { driver.drain(deadline: deadline, done: $0) }
  }

  /// Ends the loop threads and the workers and waits for them: what still runs ends with `.engineClosed`, and its
  /// unfinished files are removed. For programs that are about to exit. Engines of a closed queue refuse everything with
  /// `.engineClosed`. Blocks; traps when called from a closure of NetSpool, which would wait for itself.
  public func close() {
    guard !Delivery.isRunning else {
      fatalError("NetSpool: close was called from a closure of NetSpool, which would wait for itself")
    }
    _ = driver.close()
  }
}
