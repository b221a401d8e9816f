/// The settings of an engine's cache: a value, checked by `useCache`.
public struct CacheConfiguration: Sendable {
  /// All defaults.
  public init() {}

  /// Where the store lies. Nil, the default, is `$XDG_CACHE_HOME/netspool/<name>`, or `~/.cache/netspool/<name>`,
  /// with the engine's `storageName`. Made with mode 0700 if it is not there. Engines, and processes, that name
  /// the same directory share the store.
  public var directory: String?
  /// Bytes on disk, all engines of the store together; 1 GiB; 1 MiB to 16 TiB. What was used longest ago goes first. The store's
  /// first user decides.
  public var bytesMax = 1 << 30
  /// The largest body that is stored, in bytes; 16 MiB.
  public var bodyBytesMax = 16 << 20
  /// What counts as fresh; `.standard`, RFC 9111.
  public var rules = CacheRules.standard
  /// For requests that name none; `.automatic`.
  public var defaultPolicy = CachePolicy.automatic
  /// The engine's part of the store, which `emptyCache()` empties; `default`. At most 64 bytes.
  public var namespace = "default"
  /// Bytes that this namespace may take of the store; nil, the default: all of it.
  public var namespaceBytesMax: Int?
  /// Names whose answers these are; see `NetworkRequest.credentialScope`. Nil by default.
  public var credentialScope: String?
  /// Bytes of held bodies that may be copied out of the file; 256 MiB. A body that is held for over 2 s is copied once,
  /// however many answers hold it, so that the file's old pages can be used again. Beyond it held bodies stay where they
  /// are, and the file may grow to twice `bytesMax`. The store's first user decides.
  public var copiedBytesMax = 256 << 20
  /// Mapped pages of bodies that may stay in the process's resident memory, in bytes; nil, the default, leaves it
  /// to the system, which takes them when it needs them. For jobs with a memory limit.
  public var residentBytesMax: Int?
}
