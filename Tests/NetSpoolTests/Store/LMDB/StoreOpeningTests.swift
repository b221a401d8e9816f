import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// What may stand where a store is to be opened.
struct StoreOpeningTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder(in: TestFiles.fast) }

  private func refusal(of directory: TestFolder) -> NetworkError? { failure { _ = try directory.open() } }

  private func filled() throws -> TestFolder {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    store.put("a", pattern(1, count: 5_000))
    store.close()
    return directory
  }

  @Test func `a missing directory is made for its owner only`() throws {
    let store = try CacheStore.open(CacheStoreSettings(directory: directory["a/b/c"]))
    #expect(store.opening.found == .nothing)
    for name in ["a", "a/b", "a/b/c"] { #expect(try directory.permissions(name) == 0o700, "\(name)") }
    for name in ["a/b/c/data.mdb", "a/b/c/lock.mdb", "a/b/c/stamp"] {
      #expect(try directory.permissions(name) == 0o600, "\(name)")
    }
  }

  @Test(arguments: [[], [1, 2, 3], [UInt8](repeating: 0, count: 8_192), pattern(1, count: 50_000)])
  func `a foreign file is moved aside`(bytes: [UInt8]) throws {
    try directory.write("data.mdb", bytes)
    let store = try directory.open()
    store.write("a", [1])
    #expect(store.lookup("a")?.bytes == [1])
    let moved = directory.badFiles
    #expect(moved.count == (bytes.isEmpty ? 0 : 1))
    if let name = moved.first { #expect(try directory.read(name) == bytes) }
  }

  @Test func `at most three files are kept aside`() throws {
    for number in 0..<6 {
      try directory.write("data.mdb", [UInt8](repeating: UInt8(number), count: 100))
      try directory.open().close()
      try directory.remove("stamp")
    }
    let kept = directory.badFiles
    #expect(kept.count == 3)
    #expect(try kept.map { try directory.read($0).first }.contains(5))
  }

  @Test func `a symlink is refused`() throws {
    let directory = try filled()
    let other = try TestFolder(in: TestFiles.fast)
    try other.link("data.mdb", to: directory["data.mdb"])
    let refused = refusal(of: other)
    #expect(refused?.code == .storeOpenFailed && refused?.reason == "symlink")
    // A dangling one as well, and a stamp
    let third = try TestFolder(in: TestFiles.fast)
    try third.link("stamp", to: "/tmp/netspool-nowhere")
    #expect(refusal(of: third)?.reason == "symlink")
  }

  @Test func `a directory in the file's place is refused`() throws {
    unsafe mkdir(directory["data.mdb"], 0o700)
    #expect(refusal(of: directory)?.reason == "notAFile")
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
    #expect(refusal(of: directory)?.reason == "permissions")
  }

  @Test(.enabled(if: geteuid() == 0)) func `another owner's directory is refused`() throws {
    unsafe chown(directory.path, 12_345, 12_345)
    #expect(refusal(of: directory)?.reason == "owner")
    unsafe chown(directory.path, 0, 0)
  }

  @Test func `permissions taken away are given back or refused`() throws {
    let directory = try filled()
    unsafe chmod(directory["data.mdb"], 0)
    if geteuid() == 0 {
      #expect(try !directory.open().lookup("a").isMissing)
      #expect(try directory.permissions("data.mdb") == 0o600)
    } else {
      #expect(refusal(of: directory)?.reason == "permissions")
    }
  }

  @Test(arguments: [8, 16, 24] as [UInt32])
  func `a newer layout is refused and left alone`(bit: UInt32) throws {
    // Given a store whose stamp says it is of a later version, as such a version would write it
    let directory = try filled()
    let stamp = EnvironmentStamp(layout: CacheDatabases.layout | 1 << bit, state: .orderly).encode()
    try directory.write("stamp", stamp)
    let before = try directory.read("data.mdb")
    let refused = refusal(of: directory)
    #expect(refused?.code == .storeOpenFailed && refused?.reason == "newerSchema")
    #expect(try directory.read("data.mdb") == before && directory.read("stamp") == stamp)
  }

  @Test func `another version of LMDB is refused and left alone`() throws {
    let directory = try filled()
    var data = try directory.read("data.mdb")
    for page in 0..<2 { data[page * Int(getpagesize()) + 20] = 2 }
    try directory.write("data.mdb", data)
    #expect(refusal(of: directory)?.reason == "version")
    #expect(try directory.read("data.mdb") == data)
  }

  @Test func `after the machine went down a store in use begins afresh`() throws {
    // Given a store that was in use under another kernel
    let (directory, boot) = (try filled(), BootIdentifier(first: 1, second: 2))
    let stamp = EnvironmentStamp(layout: CacheDatabases.layout, state: .inUse, boot: boot)
    try directory.write("stamp", stamp.encode())
    let store = try directory.open()
    #expect(store.opening.found == .outdated)
    #expect(store.lookup("a").isMissing)
    #expect(directory.names == ["bodies", "data.mdb", "lock.mdb", "stamp", "writer"])
  }

  @Test func `an opening that never ended is not trusted`() throws {
    let directory = try filled()
    let stamp = EnvironmentStamp(layout: CacheDatabases.layout, state: .opening, brokenOpenings: 1)
    try directory.write("stamp", stamp.encode())
    let store = try directory.open()
    #expect(store.opening.found.damage == "opening never ended" && store.lookup("a").isMissing)
  }

  @Test(arguments: [0, 7, 63, 64, 65])
  func `a damaged stamp costs the store and nothing else`(count: Int) throws {
    let directory = try filled()
    let stamp = try directory.read("stamp") + [1]
    try directory.write("stamp", stamp.prefix(count).map { $0 ^ (count == 64 ? 1 : 0) })
    let store = try directory.open()
    #expect(store.opening.found.damage == "no stamp" && store.lookup("a").isMissing)
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
      try directory.remove("lock.mdb")
    }
    let store = try directory.open()
    #expect(store.opening.found == .whole)
    #expect(!store.lookup("a").isMissing)
  }

  @Test func `no descriptor reaches a program started meanwhile`() throws {
    let store = try directory.open()
    store.write("a", [1])
    defer { store.close() }
    let files = try [".", "data.mdb", "lock.mdb", "stamp", "writer", "bodies"].map { name in
      try FileStatus(path: directory[name]).identity
    }
    // Other tests may have a thousand connections open at the moment.
    let ours = (Int32(0)..<65_536).filter { number in
      (try? FileStatus(ofDescriptor: number)).map { files.contains($0.identity) } ?? false
    }
    #expect(ours.count >= 4 && ours.filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 } == [])
  }
}
