internal import CNetSpoolLMDB
internal import Glibc

/// What opening found.
struct EnvironmentOpening: Sendable, Equatable {
  enum Found: Sendable, Equatable {
    /// Nothing was there.
    case nothing
    /// An environment in order.
    case whole
    /// An environment that another process has open.
    case inUse
    /// An environment that the machine's going down, or an older layout, made worthless.
    case outdated
    /// Damage, or no environment of ours: moved aside under this name.
    case damaged(movedTo: String, why: String)
  }

  var found: Found
  /// The layout of what was there.
  var layout: UInt32
}

/// Opens an environment: everything is checked before LMDB reads the first page, because LMDB itself believes
/// what it reads and would take the process down with it.
struct EnvironmentOpener {
  private static let fileBytesMin = 64 << 10

  let directory: EnvironmentDirectory
  let settings: EnvironmentSettings

  func open() throws(NetworkError) -> Environment {
    // The system ends a process that makes a file longer than it may (setrlimit(2), SIGXFSZ).
    guard Environment.fileBytesMax >= Self.fileBytesMin else {
      throw NetworkError(.storageFull, underlying: .errno(EFBIG))
    }
    try directory.lockDirectory(patience: settings.patience)
    defer { directory.unlockDirectory() }
    guard directory.lockUseAlone() else { return try join() }
    return try begin(look())
  }

  /// What `open` would find, unless another process has it.
  func inspect() throws(NetworkError) -> EnvironmentOpening.Found {
    try directory.lockDirectory(patience: settings.patience)
    defer { directory.unlockDirectory() }
    guard directory.lockUseAlone() else {
      throw NetworkError(.storeInUse, about: directory.readStamp().map { String($0.process) })
    }
    return try look().finding
  }

  /// Opens it beside other processes, which have checked it.
  private func join() throws(NetworkError) -> Environment {
    let stamp = directory.readStamp()
    let owner = stamp.map { String($0.process) }
    guard !settings.isExclusive, directory.lockUseShared() else {
      throw NetworkError(.storeInUse, about: owner)
    }
    guard stamp?.layout == settings.layout else { throw NetworkError(.storeInUse, cause: .layout) }
    do {
      return try makeEnvironment(EnvironmentOpening(found: .inUse, layout: settings.layout))
    } catch {
      throw error.failure(.storeOpenFailed, reason: "environment")
    }
  }

  /// As the first process.
  private func begin(_ inspection: Verdict) throws(NetworkError) -> Environment {
    let opening = apply(inspection)
    var stamp = EnvironmentStamp(
      layout: settings.layout, state: .opening, brokenOpenings: inspection.brokenOpenings,
      process: UInt32(getpid()))
    try directory.write(stamp, onDisk: true)
    directory.removeLockFile()
    try directory.reserveLockFile(readers: Int(settings.readersMax))
    try directory.makeData()
    let environment = try makeFirst(opening)
    environment.lengthenFile()
    Failpoint.pass(.duringRecovery)
    stamp.state = .inUse
    stamp.brokenOpenings = 0
    try directory.write(stamp, onDisk: false)
    directory.syncDirectory()
    if !settings.isDisposable { directory.syncDirectoriesAbove() }
    if !settings.isExclusive { _ = directory.lockUseShared() }
    return environment
  }

  private func apply(_ verdict: Verdict) -> EnvironmentOpening {
    switch verdict.finding {
    case .nothing, .whole, .inUse: break
    case .outdated: directory.removeData()
    case .damaged(_, let why):
      let name = directory.quarantineData()
      return EnvironmentOpening(found: .damaged(movedTo: name, why: why), layout: settings.layout)
    }
    return EnvironmentOpening(found: verdict.finding, layout: verdict.layout)
  }

  /// When LMDB finds fault with what we found whole, its word counts.
  private func makeFirst(_ opening: EnvironmentOpening) throws(NetworkError) -> Environment {
    do throws(StoreError) {
      do throws(StoreError) {
        return try makeEnvironment(opening)
      } catch  where error.isDamage {
        let name = directory.quarantineData()
        let found = EnvironmentOpening.Found.damaged(movedTo: name, why: "lmdb \(error.number)")
        return try makeEnvironment(EnvironmentOpening(found: found, layout: settings.layout))
      }
    } catch {
      throw Self.failure(error)
    }
  }

  private static func failure(_ error: StoreError) -> NetworkError {
    if [EACCES, EROFS, EMFILE, ENFILE].contains(error.number) {
      return EnvironmentDirectory.failure(SystemError(number: error.number, call: "mdb_env_open"))
    }
    return error.failure(error.isFull ? .storageFull : .storeOpenFailed, reason: "environment")
  }
}

// MARK: LMDB's part

extension EnvironmentOpener {
  private func makeEnvironment(_ opening: EnvironmentOpening) throws(StoreError) -> Environment {
    let handle = try unsafe openHandle()
    do throws(StoreError) {
      var descriptor: Int32 = -1
      try StoreError.check(unsafe mdb_env_get_fd(handle, &descriptor))
      directory.adopt(data: descriptor)
      guard let identity = directory.dataStatus()?.identity else { throw StoreError(number: ENOENT) }
      var dead: Int32 = 0
      unsafe mdb_reader_check(handle, &dead)
      // Another process that has it open has done so.
      if opening.found != .inUse { try unsafe writeAbout(handle) }
      return try unsafe Environment(
        handle: handle, settings: settings, directory: directory, identity: identity, opening: opening)
    } catch {
      unsafe mdb_env_close(handle)
      throw error
    }
  }

  /// As much address space as the system grants, halving from what was asked.
  private func openHandle() throws(StoreError) -> OpaquePointer {
    var mapBytes = settings.mapBytes
    while true {
      do {
        return try unsafe openHandle(mapBytes: mapBytes)
      } catch  where error.number == ENOMEM && mapBytes / 2 >= settings.mapBytesMin {
        mapBytes /= 2
      }
    }
  }

  private func openHandle(mapBytes: Int) throws(StoreError) -> OpaquePointer {
    var created: OpaquePointer?
    try StoreError.check(unsafe mdb_env_create(&created))
    let handle = unsafe created!
    do throws(StoreError) {
      try StoreError.check(unsafe mdb_env_set_mapsize(handle, mapBytes))
      try StoreError.check(unsafe mdb_env_set_maxdbs(handle, settings.databasesMax))
      try StoreError.check(unsafe mdb_env_set_maxreaders(handle, settings.readersMax))
      // A reader belongs to its transaction, not to a thread. No write map: a full disk would be SIGBUS.
      // No read-ahead: bodies are read whole or not at all.
      let sync = settings.isDisposable ? UInt32(MDB_NOSYNC) : 0
      let flags = UInt32(MDB_NOTLS) | UInt32(MDB_NORDAHEAD) | sync
      try StoreError.check(unsafe mdb_env_open(handle, directory.path, flags, 0o600))
      return unsafe handle
    } catch {
      unsafe mdb_env_close(handle)
      throw error
    }
  }

  /// Writes a record into the main tree, so that it is never empty: the map's address is found through it.
  private func writeAbout(_ handle: OpaquePointer) throws(StoreError) {
    var transaction: OpaquePointer?
    try StoreError.check(unsafe mdb_txn_begin(handle, nil, 0, &transaction))
    var main: MDB_dbi = 0
    var status = unsafe mdb_dbi_open(transaction, nil, 0, &main)
    if status == MDB_SUCCESS {
      status = unsafe RecordKey(ordered: 0).withValue { key in
        unsafe RecordKey(integer: UInt64(settings.layout)).withValue { value in
          unsafe mdb_put(transaction, main, &key, &value, UInt32(MDB_NOOVERWRITE))
        }
      }
    }
    guard status == MDB_SUCCESS else {
      unsafe mdb_txn_abort(transaction)
      if status != MDB_KEYEXIST { throw StoreError(number: status) }
      return
    }
    try StoreError.check(unsafe mdb_txn_commit(transaction))
  }
}
