internal import CNetSpoolShims
internal import Glibc
internal import Synchronization

/// The directory of an environment and the files in it:
///
///   data.mdb             LMDB's pages
///   lock.mdb             LMDB's table of readers and lock of the writer; remade by the first process
///   writer               locked with flock(2) by the process that writes
///   stamp                see `EnvironmentStamp`
///   data.mdb.bad-<time>  (microseconds since 1970) a file that was damaged or not ours, moved aside. Of what can be had
///                        again the newest three are kept, of what cannot all. `.unread` behind it: no process has looked
///                        yet for what is still whole in it
///
/// The directory itself is locked with flock(2) while a process opens or leaves.
final class EnvironmentDirectory: Sendable {
  static let dataName = "data.mdb"
  static let lockName = "lock.mdb"
  static let writerName = "writer"
  static let badPrefix = "data.mdb.bad-"
  static let badMax = 3
  static let unreadSuffix = ".unread"

  let path: String
  let identity: FileIdentity
  private let directory: FileDescriptor
  private let stampFile: FileDescriptor
  private let writerFile: FileDescriptor
  /// Writers of this process that hold or are about to take LMDB's lock.
  private let writers = Mutex(0)
  /// LMDB's own descriptor of the data file; -1 until it is open.
  private let dataDescriptor = Atomic<Int32>(-1)
  private let isDisposable: Bool

  init(_ settings: EnvironmentSettings) throws(NetworkError) {
    path = settings.directory
    isDisposable = settings.isDisposable
    directory = try Self.openDirectory(settings.directory)
    identity = try Self.identity(of: directory)
    stampFile = try Self.openOwnFile(EnvironmentStamp.name, in: directory, creating: true)
    writerFile = try Self.openOwnFile(Self.writerName, in: directory, creating: true)
  }
}

// MARK: The directory

extension EnvironmentDirectory {
  private static func identity(of directory: borrowing FileDescriptor) throws(NetworkError) -> FileIdentity {
    try failing { try FileStatus(of: directory).identity }
  }

  private static func openDirectory(_ path: String) throws(NetworkError) -> FileDescriptor {
    try makeDirectories(path)
    return try failing {
      let directory = try FileDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
      let status = try FileStatus(of: directory)
      guard status.owner == geteuid() else { throw refusal(.owner) }
      guard status.permissions & 0o022 == 0 else { throw refusal(.permissions) }
      try refuseRemoteFileSystem(directory.rawValue)
      return directory
    }
  }

  /// Does something with the disk, whose failures become the store's.
  private static func failing<Value: ~Copyable>(_ body: () throws -> Value) throws(NetworkError) -> Value {
    do {
      return try body()
    } catch let error as SystemError {
      throw failure(error)
    } catch let failure as NetworkError {
      throw failure
    } catch {
      throw refusal(.permissions)
    }
  }

  /// As `mkdir -p`, each new one for its owner only.
  private static func makeDirectories(_ path: String) throws(NetworkError) {
    var end = path.startIndex
    while end != path.endIndex {
      end = path[end...].dropFirst().firstIndex(of: "/") ?? path.endIndex
      let parent = String(path[..<end])
      let made = unsafe mkdir(parent, 0o700)
      if made == 0 { unsafe chmod(parent, 0o700) }
      let number = errno
      // One that is there may be refused as well.
      if made != 0, unsafe access(parent, F_OK) != 0 {
        throw failure(SystemError(number: number, call: "mkdir"))
      }
    }
  }

  /// A file locked or mapped over a network is not what LMDB needs (lmdb.h, "Caveats").
  private static func refuseRemoteFileSystem(_ descriptor: Int32) throws(NetworkError) {
    let remote: [Int64] = [
      0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x0102_1997, 0x564C, 0x7375_7245, 0x5346_414F, 0xC36_400,
      0x1980_0202,
    ]  // NFS, CIFS, SMB2, SMB, 9p, NCP, Coda, AFS, Ceph, mqueue
    if remote.contains(cnetspool_file_system_type(descriptor)) { throw refusal(.remoteFileSystem) }
  }

  static func refusal(_ reason: String) -> NetworkError { NetworkError(.storeOpenFailed, reason: reason) }
  private static func refusal(_ cause: NetworkError.Cause) -> NetworkError {
    NetworkError(.storeOpenFailed, cause: cause)
  }

  static func failure(_ error: SystemError) -> NetworkError {
    let underlying = NetworkError.Underlying.errno(error.number)
    switch error.number {
    case EMFILE, ENFILE: return NetworkError(.tooManyOpenFiles, underlying: underlying)
    case ENOSPC, EDQUOT: return NetworkError(.storageFull, underlying: underlying)
    case ELOOP: return NetworkError(.storeOpenFailed, cause: .symlink, underlying: underlying)
    case EISDIR, ENOTDIR: return NetworkError(.storeOpenFailed, cause: .notAFile, underlying: underlying)
    case EROFS: return NetworkError(.storeOpenFailed, cause: .readOnly, underlying: underlying)
    case EACCES, EPERM: return NetworkError(.storeOpenFailed, cause: .permissions, underlying: underlying)
    default: return NetworkError(.storeOpenFailed, reason: error.call, underlying: underlying)
    }
  }
}

// MARK: Files in it

extension EnvironmentDirectory {
  /// Opens a file of this store: never through a symlink, never a pipe, never another user's; 0600 afterwards.
  private static func openOwnFile(
    _ name: String, in directory: borrowing FileDescriptor, creating: Bool
  ) throws(NetworkError) -> FileDescriptor {
    try failing {
      let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | (creating ? O_CREAT : 0)
      let file = try FileDescriptor(opening: name, in: directory, flags: flags)
      let status = try FileStatus(of: file)
      guard status.isRegular else { throw refusal("notAFile") }
      guard status.owner == geteuid() else { throw refusal(.owner) }
      if status.permissions != 0o600 { _ = fchmod(file.rawValue, 0o600) }
      return file
    }
  }

  /// Words that all processes share which have the directory open, zero at first; nil when they cannot be had. Not in the
  /// directory: loops write to them, and must not wait for its disk.
  func openWords(_ kind: String, count: Int) -> SharedWords? {
    let name = "\(Hexadecimal.text(identity.device))-\(Hexadecimal.text(identity.inode))"
    return try? SharedWords(in: try SharedMemory(kind, named: name, bytes: 8 * count), count: count)
  }

  /// A folder in it, made when it is missing: this user's alone, and no symlink.
  func openFolder(_ name: String) throws(NetworkError) -> FileDescriptor {
    if unsafe mkdirat(directory.rawValue, name, 0o700) == 0 {
      _ = unsafe fchmodat(directory.rawValue, name, 0o700, 0)
    }
    return try Self.failing {
      let folder = try FileDescriptor(
        opening: name, in: directory, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      let status = try FileStatus(of: folder)
      guard status.owner == geteuid() else { throw Self.refusal(.owner) }
      if status.permissions != 0o700 { try folder.setPermissions(0o700) }
      return folder
    }
  }

  /// Makes an empty data file where there is none: LMDB would give it the permissions that the umask leaves.
  func makeData() throws(NetworkError) {
    _ = try Self.openOwnFile(Self.dataName, in: directory, creating: true)
  }

  func openData() throws(NetworkError) -> FileDescriptor {
    try Self.openOwnFile(Self.dataName, in: directory, creating: false)
  }

  /// What stands at the data file's name, a symlink not followed.
  func dataStatus() -> FileStatus? { FileStatus(named: Self.dataName, in: directory) }

  /// LMDB leaves its descriptors open to programs this process starts; there are two of the data file.
  func adopt(data descriptor: Int32) {
    dataDescriptor.store(descriptor, ordering: .releasing)
    guard let status = try? FileStatus(ofDescriptor: descriptor) else { return }
    _ = fchmod(descriptor, 0o600)
    for other in SystemText.openDescriptors()
    where (try? FileStatus(ofDescriptor: other))?.identity == status.identity {
      _ = fcntl(other, F_SETFD, FD_CLOEXEC)
    }
  }

  /// The length of the open data file.
  var dataBytes: Int? {
    (try? FileStatus(ofDescriptor: dataDescriptor.load(ordering: .acquiring))).map { Int($0.bytes) }
  }

  /// Fills a buffer from the data file, and waits for no disk: false when not all of it is in the page cache.
  func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Bool {
    guard let start = buffer.baseAddress else { return true }
    let descriptor = dataDescriptor.load(ordering: .acquiring)
    return unsafe cnetspool_read_cached(descriptor, start, Int64(buffer.count), offset) == buffer.count
  }

  /// By bytes that are in no block: a full disk has them, too.
  func lengthenData(to bytes: Int) { _ = ftruncate(dataDescriptor.load(ordering: .acquiring), off_t(bytes)) }

  /// Has the disk set blocks aside behind the first bytes of the data file (fallocate(2)); false when it is full. What
  /// cannot do that is left in peace.
  func reserveData(from offset: Int, bytes: Int) -> Bool {
    let descriptor = dataDescriptor.load(ordering: .acquiring)
    guard cnetspool_reserve(descriptor, Int64(offset), Int64(bytes)) != 0 else { return true }
    return errno != ENOSPC && errno != EDQUOT && errno != EFBIG
  }

  func removeData() {
    directory.unlink(Self.dataName)
    removeLockFile()
  }

  /// LMDB makes its table of readers as long as it must be and writes to it through a map: a full disk would be SIGBUS.
  /// So the disk sets the blocks aside before. What cannot do that is left in peace.
  func reserveLockFile(readers: Int) throws(NetworkError) {
    let file = try Self.openOwnFile(Self.lockName, in: directory, creating: true)
    do {
      // mdb.c: a cache line for each reader, and some for what they share.
      try file.reserve(from: 0, Int64(64 * (readers + 16)))
    } catch  where error.number == ENOSPC || error.number == EDQUOT {
      throw Self.failure(error)
    } catch {}
  }

  /// Only while no other process has the environment open.
  func removeLockFile() { directory.unlink(Self.lockName) }

  /// Moves the data file aside and answers its new name, which it has once it was looked through.
  func quarantineData() -> String {
    let name = freeBadName()
    let first = isDisposable ? name : name + Self.unreadSuffix
    _ = unsafe renameat(directory.rawValue, Self.dataName, directory.rawValue, first)
    removeData()
    guard isDisposable else { return name }
    let old = SystemText.names(inDirectory: path).filter { $0.hasPrefix(Self.badPrefix) }.sorted()
    for name in old.dropLast(Self.badMax) { directory.unlink(name) }
    return name
  }

  private func freeBadName() -> String {
    var moment = WallClock.microseconds
    let isTaken = { name in FileStatus(named: name, in: self.directory) != nil }
    while isTaken(Self.badPrefix + String(moment))
      || isTaken(Self.badPrefix + String(moment) + Self.unreadSuffix)
    {
      moment += 1
    }
    return Self.badPrefix + String(moment)
  }

  /// Files that were moved aside, and in which no process has looked yet for what is still whole: the names they will have.
  var unreadNames: [String] {
    SystemText.names(inDirectory: path).sorted().compactMap { name in
      guard name.hasPrefix(Self.badPrefix), name.hasSuffix(Self.unreadSuffix) else { return nil }
      return String(name.dropLast(Self.unreadSuffix.count))
    }
  }

  /// Damaged files that were moved aside and are still there.
  var badCount: Int { SystemText.names(inDirectory: path).count { $0.hasPrefix(Self.badPrefix) } }

  func openUnread(_ name: String) throws(NetworkError) -> FileDescriptor {
    try Self.openOwnFile(name + Self.unreadSuffix, in: directory, creating: false)
  }

  func didRead(_ name: String) {
    _ = unsafe renameat(directory.rawValue, name + Self.unreadSuffix, directory.rawValue, name)
    syncDirectory()
  }

  /// A new file is only there after a power loss when its directory was written too.
  func syncDirectory() { _ = fsync(directory.rawValue) }

  /// Syncs the directories above: a new directory lasts only when the one above it was written. Which of them an
  /// earlier process made and did not live to sync cannot be told, so all are that are this user's.
  func syncDirectoriesAbove() {
    var above = path[...]
    while above != "/", above != "." {
      let slash = above.lastIndex(of: "/")
      above = slash.map { $0 == above.startIndex ? "/" : above[..<$0] } ?? "."
      guard let parent = try? FileDescriptor(opening: String(above), flags: O_RDONLY | O_DIRECTORY),
        let status = try? FileStatus(of: parent), status.owner == geteuid()
      else { return }
      _ = fsync(parent.rawValue)
    }
  }
}

// MARK: Locks

extension EnvironmentDirectory {
  /// Keeps other processes from opening or leaving meanwhile.
  func lockDirectory(patience: Microseconds) throws(NetworkError) {
    do {
      try directory.lock(patience: patience)
    } catch {
      throw error.number == EWOULDBLOCK ? NetworkError(.storeBusy, cause: .opening) : Self.failure(error)
    }
  }

  /// Waits for other processes that write, but no longer than told: EWOULDBLOCK then. LMDB's own lock would be waited
  /// for without limit, also while the process that has it is stopped (SIGSTOP).
  func lockWriter(patience: Microseconds) throws(SystemError) {
    try writers.withLock { writers throws(SystemError) in
      if writers == 0 { try writerFile.lock(patience: patience) }
      writers += 1
    }
  }

  func unlockWriter() {
    writers.withLock { writers in
      writers -= 1
      if writers == 0 { _ = flock(writerFile.rawValue, LOCK_UN) }
    }
  }

  func unlockDirectory() { _ = flock(directory.rawValue, LOCK_UN) }

  /// True when no other process has the environment open; then none can open it before `shareUse`.
  func lockUseAlone() -> Bool { stampFile.tryLock() }

  /// Returns false when another process wants it for itself.
  func lockUseShared() -> Bool { flock(stampFile.rawValue, LOCK_SH | LOCK_NB) == 0 }
}

// MARK: The stamp

extension EnvironmentDirectory {
  func readStamp() -> EnvironmentStamp? {
    let bytes = (try? stampFile.bytes(at: 0, atMost: EnvironmentStamp.bytes + 1)) ?? []
    return EnvironmentStamp(decoding: bytes.rawBytes)
  }

  /// `onDisk`: the disk has it when this returns.
  func write(_ stamp: EnvironmentStamp, onDisk: Bool) throws(NetworkError) {
    try Self.failing {
      let bytes = stamp.encode()
      try stampFile.writeAll(bytes.rawBytes, at: 0)
      try stampFile.truncate(to: Int64(bytes.count))
      if onDisk { try stampFile.sync() }
    }
  }

  /// A page was found damaged: the next process that finds no other here begins afresh.
  func markSuspect() {
    guard var stamp = readStamp(), !stamp.isSuspect else { return }
    stamp.isSuspect = true
    try? write(stamp, onDisk: false)
  }

  /// The environment is closed. The last process to leave says whether all is in order, and marks the
  /// file with a time that no write gives it, so that a later change shows.
  func leave(isSynced: Bool) {
    // What was found may keep this object, and with it the descriptor, for long.
    defer { _ = flock(stampFile.rawValue, LOCK_UN) }
    guard isSynced, (try? lockDirectory(patience: 100_000)) != nil else { return }
    defer { unlockDirectory() }
    if lockUseAlone() { writeOrderlyStamp() }
  }

  private func writeOrderlyStamp() {
    guard var stamp = readStamp(), !stamp.isSuspect, let data = try? openData() else { return }
    var times = [timespec(), timespec()]
    unsafe clock_gettime(CLOCK_REALTIME, &times[1])
    times[1].tv_nsec = Int.random(in: 0..<1_000_000_000)
    times[0] = times[1]
    guard unsafe futimens(data.rawValue, times) == 0, let status = try? FileStatus(of: data) else { return }
    stamp.state = .orderly
    stamp.brokenOpenings = 0
    stamp.boot = .current
    stamp.dataBytes = status.bytes
    stamp.dataModified = status.modified
    try? write(stamp, onDisk: true)
  }
}
