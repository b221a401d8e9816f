internal import Synchronization

/// The one line behind all engines: it decides what runs now, on one loop thread that starts with the first
/// operation. All engines share `.shared` unless told otherwise, so that uploads of one cannot starve
/// thumbnails of another.
///
/// Any thread may call anything here; settings count at once, also for what already waits.
public final class NetworkQueue: Sendable {
  /// The process's queue.
  public static let shared = NetworkQueue(unchecked: Configuration())

  let driver: QueueDriver

  /// A queue of its own, with its own loop thread. Throws `.invalidConfiguration`.
  public init(configuration: Configuration = .init()) throws(NetworkError) {
    if let option = configuration.firstInvalid {
      throw NetworkError(code: .invalidConfiguration, reason: option)
    }
    driver = QueueDriver(settings: configuration)
  }

  private init(unchecked configuration: Configuration) { driver = QueueDriver(settings: configuration) }

  deinit { driver.abandon() }

  /// How wide a queue runs.
  public struct Configuration: Sendable, Hashable {
    /// `.adaptive` by default.
    public var sizing = Sizing.adaptive
    /// Transfers at once, all origins together; 256. Below 1: `.invalidConfiguration`.
    public var maximumConcurrent = 256
    /// Transfers at once to one origin; 64. Below 1: `.invalidConfiguration`.
    public var maximumPerOrigin = 64
    /// Nothing new starts while true.
    public var isSuspended = false

    /// All defaults.
    public init() {}

    var firstInvalid: String? {
      if maximumConcurrent < 1 { return "maximumConcurrent" }
      if maximumPerOrigin < 1 { return "maximumPerOrigin" }
      return sizing.isValid ? nil : "sizing"
    }
  }

  /// How many requests an origin gets at once; each origin has its own count.
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

    /// Whether every width in it is at least 1; others are refused as an invalid configuration.
    var isValid: Bool {
      switch self {
      case .adaptive: true
      case .fixed(let width): width >= 1
      case .byLink(let local, let cellular): local >= 1 && cellular >= 1
      }
    }
  }
}
