import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// What may stand where a store is to be opened.
struct StoreOpeningTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder(in: TestFiles.fast) }

  private func failure(_ directory: TestFolder) -> NetworkError? {
    do {
      _ = try directory.open()
      return nil
    } catch { return error as? NetworkError }
  }

  private func filled() throws -> TestFolder {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    store.put("a", pattern(1, count: 5_000))
    store.close()
    return directory
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test func `a missing directory is made for its owner only`() throws {
    let parent = try TestFolder(in: TestFiles.fast)
    let path = parent.path + "/a/b/c"
    #expect(try CacheStore.open(CacheStoreSettings(directory: path)).opening.found == .nothing)
    #expect([parent.path + "/a", parent.path + "/a/b", path].map(mode) == [0o700, 0o700, 0o700])
    #expect(["data.mdb", "lock.mdb", "stamp"].map { mode(path + "/" + $0) } == [0o600, 0o600, 0o600])
  }

  @Test(arguments: [[], [1, 2, 3], [UInt8](repeating: 0, count: 8_192), pattern(1, count: 50_000)])
  func `a foreign file is moved aside`(bytes: [UInt8]) throws {
    try directory.write("data.mdb", bytes)
    let store = try directory.open()
    store.write("a", [1])
    #expect(store.lookup("a")?.bytes == [1])
    let moved = directory.names.filter { $0.hasPrefix("data.mdb.bad-") }
    #expect(moved.count == (bytes.isEmpty ? 0 : 1))
    if let name = moved.first { #expect(try directory.read(name) == bytes) }
  }

  @Test func `at most three files are kept aside`() throws {
    for number in 0..<6 {
      try directory.write("data.mdb", [UInt8](repeating: UInt8(number), count: 100))
      try directory.open().close()
      unsafe unlink(directory.path + "/stamp")
    }
    let kept = directory.names.filter { $0.hasPrefix("data.mdb.bad-") }
    #expect(kept.count == 3)
    #expect(try kept.map { try directory.read($0).first }.contains(5))
  }

  @Test func `a symlink is refused`() throws {
    let directory = try filled()
    let other = try TestFolder(in: TestFiles.fast)
    try other.link("data.mdb", to: directory.dataPath)
    let failure = failure(other)
    #expect(failure?.code == .storeOpenFailed && failure?.reason == "symlink")
    // A dangling one as well, and a stamp
    let third = try TestFolder(in: TestFiles.fast)
    try third.link("stamp", to: "/tmp/netspool-nowhere")
    #expect(self.failure(third)?.reason == "symlink")
  }

  @Test func `a directory in the file's place is refused`() throws {
    unsafe mkdir(directory.dataPath, 0o700)
    #expect(failure(directory)?.reason == "notAFile")
  }

  @Test func `a file in the directory's place is refused`() throws {
    try directory.write("file", [1])
    #expect(throws: NetworkError.self) {
      try CacheStore.open(CacheStoreSettings(directory: directory.path + "/file"))
    }
  }

  @Test(arguments: [mode_t(0o770), 0o702, 0o777])
  func `a directory others may write to is refused`(mode: mode_t) throws {
    unsafe chmod(directory.path, mode)
    #expect(failure(directory)?.reason == "permissions")
  }

  @Test(.enabled(if: geteuid() == 0)) func `another owner's directory is refused`() throws {
    unsafe chown(directory.path, 12_345, 12_345)
    #expect(failure(directory)?.reason == "owner")
    unsafe chown(directory.path, 0, 0)
  }

  @Test func `permissions taken away are given back or refused`() throws {
    let directory = try filled()
    unsafe chmod(directory.dataPath, 0)
    if geteuid() == 0 {
      #expect(try !directory.open().lookup("a").isMissing)
      #expect(mode(directory.dataPath) == 0o600)
    } else {
      #expect(failure(directory)?.reason == "permissions")
    }
  }

  @Test(arguments: [9, 10, 11]) func `a newer layout is refused and left alone`(byte: Int) throws {
    // Given a store whose stamp says it is of a later version, as such a version would write it
    let directory = try filled()
    var stamp = try directory.read("stamp")
    stamp[byte] = 1
    stamp.removeLast(8)
    stamp.append(integer: Checksum.of(stamp.rawBytes))
    try directory.write("stamp", stamp)
    let before = try directory.read("data.mdb")
    // When it is opened, it is refused
    let failure = failure(directory)
    #expect(failure?.code == .storeOpenFailed && failure?.reason == "newerSchema")
    #expect(try directory.read("data.mdb") == before && directory.read("stamp") == stamp)
  }

  @Test func `another version of LMDB is refused and left alone`() throws {
    let directory = try filled()
    var data = try directory.read("data.mdb")
    for page in 0..<2 { data[page * Int(getpagesize()) + 20] = 2 }
    try directory.write("data.mdb", data)
    #expect(failure(directory)?.reason == "version")
    #expect(try directory.read("data.mdb") == data)
  }

  @Test func `after the machine went down a store in use begins afresh`() throws {
    // Given a store that was in use under another kernel
    let directory = try filled()
    var stamp = try directory.read("stamp")
    stamp[12] = 2
    stamp[16] ^= 1
    stamp.removeLast(8)
    stamp.append(integer: Checksum.of(stamp.rawBytes))
    try directory.write("stamp", stamp)
    let store = try directory.open()
    #expect(store.opening.found == .outdated)
    #expect(store.lookup("a").isMissing)
    #expect(directory.names == ["bodies", "data.mdb", "lock.mdb", "stamp", "writer"])
  }

  @Test(arguments: [0, 1]) func `a stamp of another length is none`(surplus: Int) throws {
    let directory = try filled()
    let stamp = try directory.read("stamp")
    try directory.write("stamp", surplus > 0 ? stamp + [0] : stamp.dropLast())
    let store = try directory.open()
    guard case .damaged(_, "no stamp") = store.opening.found else {
      throw PartFailure("\(store.opening.found)")
    }
    #expect(store.lookup("a").isMissing)
  }

  @Test func `an opening that never ended is not trusted`() throws {
    let directory = try filled()
    var stamp = try directory.read("stamp")
    stamp[12] = 1
    stamp[14] = 1
    stamp.removeLast(8)
    stamp.append(integer: Checksum.of(stamp.rawBytes))
    try directory.write("stamp", stamp)
    let store = try directory.open()
    guard case .damaged = store.opening.found else {
      Issue.record("\(store.opening.found)")
      return
    }
    #expect(store.lookup("a").isMissing)
  }

  @Test(arguments: [0, 7, 63, 64, 65])
  func `a damaged stamp costs the store and nothing else`(count: Int) throws {
    let directory = try filled()
    let stamp = try directory.read("stamp") + [1]
    try directory.write("stamp", stamp.prefix(count).map { $0 ^ (count == 64 ? 1 : 0) })
    let store = try directory.open()
    store.put("b", [2])
    store.close()
    #expect(try directory.open().lookup("b")?.bytes == [2])
  }

  @Test(arguments: [nil, [], pattern(1, count: 100), pattern(2, count: 100_000)])
  func `the lock file may be missing or garbage`(bytes: [UInt8]?) throws {
    let directory = try filled()
    if let bytes {
      try directory.write("lock.mdb", bytes)
    } else {
      unsafe unlink(directory.path + "/lock.mdb")
    }
    let store = try directory.open()
    #expect(store.opening.found == .whole)
    #expect(!store.lookup("a").isMissing)
  }

  @Test func `no descriptor reaches a program started meanwhile`() throws {
    let store = try directory.open()
    store.write("a", [1])
    defer { store.close() }
    var count = 0
    // Other tests may have a thousand connections open at the moment.
    for descriptor in Int32(0)..<65_536 {
      var target = [UInt8](repeating: 0, count: 4_096)
      let length = unsafe target.withUnsafeMutableBytes { buffer in
        unsafe readlink("/proc/self/fd/\(descriptor)", buffer.baseAddress!, buffer.count)
      }
      guard length > 0, target.prefix(length).starts(with: directory.path.utf8) else { continue }
      count += 1
      #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }
    #expect(count >= 4)
  }
}
