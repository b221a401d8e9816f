/// The numbers behind the cache's decisions: `.standard`, `.relaxed`, or your own.
///
/// `no-store`, `Vary`, `Set-Cookie` and partial answers are no matter of rules: they are the same in each.
public struct CacheRules: Sendable, Hashable {
  /// How long answers last that say nothing.
  var heuristics = CacheHeuristics.standard
  var noCacheSeconds: Int64 = 0
  /// A Date further ahead of the local clock than this makes the answer stale; 300 seconds.
  var clockSkewSecondsMax: Int64 = 300

  /// Whether the cache serves several users, so that the rules for shared caches apply (RFC 9111 section 3): `private`
  /// is not stored, `s-maxage` and `proxy-revalidate` count, `Authorization` needs permission (section 3.5); false.
  public var isShared = false

  /// The same as `.standard`, to change.
  public init() {}

  /// RFC 9111 for a private cache, with the heuristics that it permits.
  public static let standard = CacheRules()

  /// The five rules of MKNetworkKit: an ETag is asked with after one day, `max-age` is honoured,
  /// `Last-Modified` makes requests conditional, `no-cache` is held for 60 seconds, an image without information
  /// for seven days. Not RFC 9111: for origins that are known to mean it so.
  public static let relaxed = {
    var relaxed = CacheRules()
    relaxed.heuristics = .relaxed
    relaxed.noCacheSeconds = 60
    return relaxed
  }()
}

extension CacheRules {
  /// Whether answers without an explicit lifetime get one from the numbers below (RFC 9111 section 4.2.2); true.
  /// Setting it to false sets those numbers to zero.
  public var usesHeuristics: Bool {
    get { heuristics != .none }
    set { heuristics = newValue ? .standard : .none }
  }

  /// An image with an ETag or Last-Modified; one day. Whole seconds, as all of these.
  public var validatedImageLifetime: Duration {
    get { .seconds(heuristics.validatedImageSeconds) }
    set { heuristics.validatedImageSeconds = newValue.components.seconds }
  }

  /// An image without either; seven days.
  public var imageLifetime: Duration {
    get { .seconds(heuristics.imageSeconds) }
    set { heuristics.imageSeconds = newValue.components.seconds }
  }

  /// Anything with an ETag; zero, `.relaxed` one day.
  public var entityTagLifetime: Duration {
    get { .seconds(heuristics.entityTagSeconds) }
    set { heuristics.entityTagSeconds = newValue.components.seconds }
  }

  /// Anything with Last-Modified: so much of the time since then, in percent; 10, `.relaxed` 0.
  public var lastModifiedPercent: Int {
    get { Int(heuristics.lastModifiedPercent) }
    set { heuristics.lastModifiedPercent = Int64(newValue) }
  }

  /// The most that `lastModifiedPercent` may give; one day.
  public var lastModifiedLifetimeMax: Duration {
    get { .seconds(heuristics.lastModifiedSecondsMax) }
    set { heuristics.lastModifiedSecondsMax = newValue.components.seconds }
  }

  /// Whether the numbers above count even when the origin sent `Expires`; false, `.relaxed` true. RFC 9111
  /// section 4.2.2 forbids it.
  public var overridesExpires: Bool {
    get { heuristics.overridesExpires }
    set { heuristics.overridesExpires = newValue }
  }

  /// An answer with `no-cache` is used for so long without asking; zero, as RFC 9111 section 5.2.2.4
  /// demands, `.relaxed` 60 seconds.
  public var noCacheLifetime: Duration {
    get { .seconds(noCacheSeconds) }
    set { noCacheSeconds = newValue.components.seconds }
  }
}
