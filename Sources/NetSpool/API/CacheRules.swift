/// The numbers behind the cache's decisions: `.standard`, `.relaxed`, or your own.
///
/// `no-store`, `Vary`, `Set-Cookie` and partial answers are no matter of rules: they are the same in each.
public struct CacheRules: Sendable, Hashable {
  var core: CoreCacheRules
  init(core: CoreCacheRules) { self.core = core }

  /// The same as `.standard`, to change.
  public init() { self = .standard }

  /// RFC 9111 for a private cache, with the heuristics that it permits.
  public static let standard = CacheRules(core: .standard)

  /// The five rules of MKNetworkKit: an ETag is asked with after one day, `max-age` is honoured,
  /// `Last-Modified` makes requests conditional, `no-cache` is held for 60 seconds, an image without information
  /// for seven days. Not RFC 9111: for origins that are known to mean it so.
  public static let relaxed = CacheRules(core: .relaxed)

  /// Whether answers without an explicit lifetime get one from the numbers below (RFC 9111 section 4.2.2); true.
  /// Setting it to false sets those numbers to 0.
  public var usesHeuristics: Bool {
    get { core.heuristics != .none }
    set { core.heuristics = newValue ? .standard : .none }
  }

  /// An image with an ETag or Last-Modified, in seconds; 86,400, one day.
  public var validatedImageSeconds: Int {
    get { Int(core.heuristics.validatedImageSeconds) }
    set { core.heuristics.validatedImageSeconds = Int64(newValue) }
  }

  /// An image without either, in seconds; 604,800, seven days.
  public var imageSeconds: Int {
    get { Int(core.heuristics.imageSeconds) }
    set { core.heuristics.imageSeconds = Int64(newValue) }
  }

  /// Anything with an ETag, in seconds; 0, `.relaxed` 86,400.
  public var entityTagSeconds: Int {
    get { Int(core.heuristics.entityTagSeconds) }
    set { core.heuristics.entityTagSeconds = Int64(newValue) }
  }

  /// Anything with Last-Modified: so much of the time since then, in percent; 10, `.relaxed` 0.
  public var lastModifiedPercent: Int {
    get { Int(core.heuristics.lastModifiedPercent) }
    set { core.heuristics.lastModifiedPercent = Int64(newValue) }
  }

  /// The most that `lastModifiedPercent` may give, in seconds; 86,400, one day.
  public var lastModifiedSecondsMax: Int {
    get { Int(core.heuristics.lastModifiedSecondsMax) }
    set { core.heuristics.lastModifiedSecondsMax = Int64(newValue) }
  }

  /// Whether the numbers above count even when the origin sent `Expires`; false, `.relaxed` true. RFC 9111
  /// section 4.2.2 forbids it.
  public var overridesExpires: Bool {
    get { core.heuristics.overridesExpires }
    set { core.heuristics.overridesExpires = newValue }
  }

  /// An answer with `no-cache` is used for so many seconds without asking; 0, as RFC 9111 section 5.2.2.4
  /// demands, `.relaxed` 60.
  public var noCacheSeconds: Int {
    get { Int(core.noCacheSeconds) }
    set { core.noCacheSeconds = Int64(newValue) }
  }

  /// Whether the cache serves several users, so that the rules for shared caches apply (RFC 9111 section 3); false.
  public var isShared: Bool {
    get { core.isShared }
    set { core.isShared = newValue }
  }
}
