/// The settings of an engine's cache: a value, checked by `useCache`.
public struct CacheConfiguration: Sendable {
  /// All defaults, in another directory than the usual one.
  public init(directory: String? = nil) { self.directory = directory }

  /// The store's directory. Nil, the default, is `$XDG_CACHE_HOME/netspool/<name>`, or
  /// `~/.cache/netspool/<name>`, with the engine's `storageName`. Made with mode 0700 if it is not there.
  /// Engines, and processes, that name the same directory share the store.
  public var directory: String?
  /// Bytes on disk, all engines of the store together; 1 GiB; 1 MiB to 16 TiB. What was used longest ago goes first. The store's
  /// first user decides.
  public var bytesMax = 1 << 30
  /// The largest body that is stored, in bytes; 16 MiB, and never more than `bytesMax` or 4 GiB − 1.
  public var bodyBytesMax = 16 << 20
  /// The rules of freshness; `.standard`, RFC 9111.
  public var rules = CacheRules.standard
  /// The policy of requests that name none; `.automatic`.
  public var defaultPolicy = CachePolicy.automatic
  /// The engine's part of the store, which `emptyCache()` empties; `default`. At most 64 bytes.
  public var namespace = "default"
  /// Bytes that this namespace may take of the store, for all engines and processes from then on, also those
  /// that opened it before; nil, the default, leaves it as it is: all of the store, unless it has been set.
  public var namespaceBytesMax: Int?
  /// Names whose answers these are; see `NetworkRequest.credentialScope`. Nil by default; empty is nil.
  public var credentialScope: String?
  /// Lets equal GETs of several processes that name the same directory ask the origin once; true. While the
  /// cache cannot answer, one process asks and the others wait, each within its own limits of time, until the
  /// answer is stored; when it turns out at its head that it cannot be, all of them ask at once, and for the
  /// next 60 s no request waits for that URL. A process that died or was stopped is waited for no longer than
  /// a second. Questions whether what is held still holds are each process's own. False for an engine that
  /// asks without regard to others; they do not wait for it either.
  public var coalescesAcrossProcesses = true
  /// Mapped pages of the store that may stay in the process's resident memory, in bytes; nil, the default, leaves it
  /// to the system, which takes them when it needs them. For jobs with a memory limit: it also bounds what the engine keeps of
  /// the answers it found last, with their bodies, else a 64th of `bytesMax`, from 1 to 16 MiB. A body of 64 KiB and more
  /// that the program holds is its own matter.
  public var residentBytesMax: Int?
  /// `CacheStoreSettings.slack`; large in tests, whose machine may be busy.
  var slack = 1
}

/// The use that a request makes of the cache. Only GET and HEAD are answered from it, and only while the
/// engine has one.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
  /// The rules decide (RFC 9111): what is fresh is served without the network, what is stale is revalidated.
  /// One completion. The default.
  case automatic
  /// The stored answer is delivered at once (`isFinal` false), then the origin's. The only policy that calls
  /// `onCompletion` twice.
  case cachedThenFresh
  /// The stored answer is served, however old it is, and brought up to date for the next time.
  case staleWhileRevalidate
  /// The stored answer is served, however old it is; the network is asked only when there is none.
  case preferCached
  /// Never asks the network: `.notCached` when nothing is held.
  case onlyIfCached
  /// Always asks the origin whether what is held still holds; a failure is a failure.
  case alwaysValidate
  /// Always asks the network for the whole answer, which is then stored.
  case reload
  /// Neither reads nor stores.
  case noStore
}

/// The numbers behind the cache's decisions: `.standard`, `.relaxed`, or your own.
///
/// `no-store`, `Vary` and partial answers are no matter of rules: they are the same in each.
public struct CacheRules: Sendable, Hashable {
  /// The lifetimes of answers that state none.
  var heuristics = CacheHeuristics.standard
  var noCacheSeconds: Int64 = 0

  /// True when the cache serves several users, so that the rules for shared caches apply (RFC 9111 section
  /// 3): `private` and `Set-Cookie` are not stored, `s-maxage` and `proxy-revalidate` count, `Authorization`
  /// needs permission (section 3.5); false.
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

  /// Gives answers without an explicit lifetime one from the numbers below (RFC 9111 section 4.2.2); true.
  /// Setting it to false sets those numbers to zero.
  public var usesHeuristics: Bool {
    get { heuristics != .none }
    set { heuristics = newValue ? .standard : .none }
  }

  /// An image with an ETag or Last-Modified; zero, which makes it like anything else, `.relaxed` one day. Whole seconds,
  /// as all of these.
  public var validatedImageLifetime: Duration {
    get { .seconds(heuristics.validatedImageSeconds) }
    set { heuristics.validatedImageSeconds = newValue.components.seconds }
  }

  /// An image without either; zero, which makes it like anything else, `.relaxed` seven days.
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

  /// Lets the numbers above count even when the origin sent `Expires`; false, `.relaxed` true. RFC 9111
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

/// The contents of a store, and its work since this process opened it.
public struct CacheStatistics: Sendable, Hashable {
  /// The state of writing to the store. Lookups find what is there in any case.
  public enum State: Sendable, Hashable {
    /// All is well.
    case open
    /// Another process keeps the store's lock, being slow or stopped; tried again every 5 s.
    case busy
    /// The disk is full or refuses; tried again every second.
    case failed
  }

  /// The result of the last attempt to write.
  public internal(set) var state = State.open
  /// Stored answers, all engines and processes together, as of the last write of this process.
  public internal(set) var entries = 0
  /// Bytes in use.
  public internal(set) var bytes = 0
  /// Bytes that may be in use; what was used longest ago goes first.
  public internal(set) var bytesMax = 0
  /// Bytes of the store's files: of the one of its trees, which never shrinks, and of those of long bodies.
  public internal(set) var fileBytes = 0
  /// Lookups that found something, fresh or not.
  public internal(set) var hits = 0
  /// Lookups that found nothing.
  public internal(set) var misses = 0
  /// Answers written.
  public internal(set) var puts = 0
  /// Answers removed to make room.
  public internal(set) var evictions = 0
  /// Answers that were not stored: too large, no room, or the disk refused. No request fails for it.
  public internal(set) var dropped = 0
  /// Stored answers that were not what had been written; each was a miss and is removed.
  public internal(set) var damaged = 0
  /// Bytes that wait to be written.
  public internal(set) var pendingBytes = 0
  /// Answers that the origin confirmed (304), so that no body came; of this engine.
  public internal(set) var validations = 0
  /// Answers that were served from the cache, confirmed or not; of this engine.
  public internal(set) var served = 0
  /// Bytes of bodies that were served from the cache and did not come over the network; of this engine.
  public internal(set) var bytesSaved = 0
  /// Of a store that another process keeps from being opened.
  static let busy = CacheStatistics(state: .busy)
  var commits = 0
}
