/// Numbers of a frozen store.
struct FrozenStoreSettings: Sendable, Equatable {
  /// A directory of its own; made with permissions 0700 when it is missing.
  var directory: String
  /// Bytes of the file in use at most; from 85 % of them on nothing more is accepted. 1 GiB.
  var bytesMax = 1 << 30
  /// Requests that wait at most. 100,000.
  var recordsMax = 100_000
  /// Outcomes and dead letters go after so long. 7 days.
  var keptMax: Microseconds = 7 * 24 * 3_600_000_000
  /// The oldest outcomes go when there are more, and so do dead letters. 10,000 of each.
  var keptRowsMax = 10_000
  /// How often is looked for what may go. 1 h.
  var sweepPeriod: Microseconds = 3_600_000_000
  /// What a full disk kept from being written is tried again after so long. 1 s.
  var retryPeriod: Microseconds = 1_000_000

  init(directory: String) { self.directory = directory }

  var environment: EnvironmentSettings {
    var settings = EnvironmentSettings(
      directory: directory, layout: FrozenTables.layout, isDisposable: false, isExclusive: true,
      mapBytes: max(bytesMax, 1 << 20))
    settings.mapBytesMin = settings.mapBytes
    settings.databasesMax = 9
    settings.readersMax = 126
    return settings
  }
}
