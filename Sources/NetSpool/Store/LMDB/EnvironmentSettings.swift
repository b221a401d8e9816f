/// How an environment is opened. Nothing here knows what is kept in it.
struct EnvironmentSettings: Sendable, Equatable {
  /// A directory of its own. Made when missing, with permissions 0700.
  var directory: String
  /// What the records look like. A directory with a newer layout is refused and left as it is, one with an
  /// older layout begins afresh when it is disposable.
  var layout: UInt32
  /// True: written without waiting for the disk, and thrown away when the machine went down in between.
  /// False: every commit is on the disk when it returns.
  var isDisposable: Bool
  /// No other process beside this one.
  var isExclusive: Bool
  /// Address space for the file: an upper limit of its size that costs nothing until it is used. Halved
  /// until the system grants it, but not below `mapBytesMin`.
  var mapBytes: Int
  var mapBytesMin: Int = 64 << 20
  var databasesMax: UInt32 = 8
  /// Read transactions at once, all processes together.
  var readersMax: UInt32 = 1_022
  /// How long another process that is just opening or closing is waited for.
  var patience: Microseconds = 5_000_000

  init(
    directory: String, layout: UInt32, isDisposable: Bool, isExclusive: Bool = false, mapBytes: Int = 16 << 30
  ) {
    self.directory = directory
    self.layout = layout
    self.isDisposable = isDisposable
    self.isExclusive = isExclusive
    self.mapBytes = mapBytes
  }
}
