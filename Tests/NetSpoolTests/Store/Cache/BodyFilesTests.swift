import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// Long bodies, each in a file of its own, and bodies of any length that are held while the store goes on.
struct BodyFilesTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder() }

  private static let long = BodyFiles.bytesMin

  private static func put(_ store: CacheStore, _ numbers: Range<Int>, size: Int = long) {
    for number in numbers {
      store.put("\(number % 50)", pattern(number, count: size), metadata: [UInt8(number % 256)])
    }
    store.flush()
  }

  private static func names(_ directory: TestFolder) -> [String] {
    SystemText.names(inDirectory: directory["bodies"]).sorted()
  }

  @Test func `a long body is a file, which goes with it`() throws {
    let store = try directory.open()
    // Given bodies right below and at the length from which they are files
    store.write("short", pattern(1, count: Self.long - 1), metadata: [1])
    #expect(Self.names(directory).isEmpty)
    store.write("long", pattern(2, count: Self.long), metadata: [2])
    // Then one is there, for its owner only, and counts
    let name = try #require(Self.names(directory).first)
    let file = try FileStatus(path: directory["bodies/\(name)"])
    #expect(Self.names(directory).count == 1 && file.bytes == Self.long && file.permissions == 0o600)
    #expect(try directory.permissions("bodies") == 0o700)
    #expect(store.statistics.bytes > 2 * Self.long && store.statistics.fileBytes > 2 * Self.long)
    for (key, number) in [("short", 1), ("long", 2)] {
      let hit = try #require(store.lookup(key))
      #expect(hit.bytes == pattern(number, count: hit.body.count) && hit.metadata == [UInt8(number)])
    }
    // When its metadata is replaced, then the file stays; when it is, or all are, then it goes
    store.replaceMetadata(
      StoreKey("long"), metadata: [3], ifBodyIs: try #require(store.lookup("long")).bodyID)
    store.flush()
    #expect(Self.names(directory) == [name] && store.lookup("long")?.metadata == [3])
    store.write("long", pattern(4, count: 2 * Self.long), metadata: [4])
    #expect(Self.names(directory).count == 1 && Self.names(directory) != [name])
    store.remove(StoreKey("long"))
    store.flush()
    #expect(Self.names(directory).isEmpty)
    Self.put(store, 0..<20)
    #expect(Self.names(directory).count == 20)
    store.removeAll(namespace: "n")
    store.flush()
    #expect(Self.names(directory).isEmpty && store.statistics.bytes < Self.long)
  }

  @Test func `files are their owner's alone, whatever the umask`() async throws {
    await #expect(processExitsWith: .success) {
      umask(0o477)
      let directory = try TestFolder()
      unsafe chmod(directory.path, 0o700)
      let store = try directory.open()
      BodyFilesTests.put(store, 0..<1)
      let spool = try BodyFilesTests.spool(pattern(1, count: 100_000), times: 1, in: directory.path)
      store.put(StoreKey("b"), namespace: "n", metadata: [], body: .spooled(spool), askedAt: .max)
      store.flush()
      let bodies = BodyFilesTests.names(directory).map { "bodies/\($0)" }
      for name in ["data.mdb", "lock.mdb", "stamp", "writer"] + bodies {
        let permissions = try directory.permissions(name)
        precondition(permissions == 0o600, name)
      }
      let permissions = try directory.permissions("bodies")
      precondition(permissions == 0o700 && bodies.count == 2)
    }
  }

  @Test func `what was used least recently makes room for long bodies, and its file goes`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open { $0.bytesMax = 2 << 20 }
    for round in 0..<10 { Self.put(store, round * 10..<round * 10 + 10, size: 100_000) }
    let files = Self.names(directory).compactMap { try? FileStatus(path: directory["bodies/\($0)"]).bytes }
    #expect(files.reduce(0, +) <= 2 << 20 && files.count > 10 && files.count <= store.statistics.entries)
    #expect(store.statistics.bytes <= 2 << 20 && store.statistics.dropped == 0)
  }

  @Test(arguments: [100_000, 2 << 20], [nil, 1 << 20])
  func `a body that can never fit drives nothing out`(room: Int, quota: Int?) throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open {
      $0.bytesMax = 2 << 20
      $0.quotas["n"] = quota
    }
    Self.put(store, 0..<10, size: 20_000)
    let long = max(room, (quota ?? 2 << 20) - room / 100)
    store.write("long", pattern(1, count: long))
    #expect(store.lookup("long").isMissing && store.statistics.dropped == 1)
    #expect((0..<10).allSatisfy { store.lookup("\($0)")?.bytes == pattern($0, count: 20_000) })
  }

  /// Of all lengths, and in any order with what the store does meanwhile.
  @Test(arguments: [100, 8_000, 100_000])
  func `held bodies stay the same while thousands are put, and outlive the store`(size: Int) throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open {
      $0.bytesMax = max(2 << 20, 60 * size)
      $0.fileBytesMax = 8 << 20
    }
    Self.put(store, 0..<50, size: size)
    let held = try (0..<50).map { try #require(store.lookup("\($0)")) }
    let body = held[7].body
    let span = body.bytes
    for round in 1...(100_000 / size + 10) { Self.put(store, round * 50..<round * 50 + 50, size: size) }
    store.removeAll(namespace: "n")
    store.close()
    for (number, hit) in held.enumerated() {
      #expect(hit.bytes == pattern(number, count: size) && hit.metadata == [UInt8(number)])
    }
    let isSpanWhole = span.isEqual(to: pattern(7, count: size))
    #expect(isSpanWhole)
    let again = try directory.open()
    Self.put(again, 50..<100, size: size)
    #expect(again.lookup("1")?.bytes == pattern(51, count: size))
  }

  @Test func `bodies are read on many threads while they are replaced`() async throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    for size in [900, 8_000, 100_000] { Self.put(store, size % 7 * 4..<size % 7 * 4 + 4, size: size) }
    Self.put(store, 0..<8, size: 100_000)
    let areWhole = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          (0..<200).allSatisfy { round in
            guard let hit = store.lookup("\(round % 8)") else { return true }
            return (0..<12).contains { hit.bytes == pattern($0 * 50 + round % 8, count: hit.body.count) }
          }
        }
      }
      for round in 1...10 {
        Self.put(store, round * 50..<round * 50 + 8, size: round % 2 == 0 ? 8_000 : 100_000)
      }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(areWhole && store.statistics.damaged == 0)
  }

  @Test func `a file is mapped once, however many hold its body`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    Self.put(store, 0..<3)
    var held: [StoreHit] = []
    for number in 0..<300 {
      if number % 100 == 50 { Self.put(store, 40..<41) }
      held.append(try #require(store.lookup("\(number % 3)")))
    }
    func starts() -> Set<UInt> {
      Set(held.map { unsafe $0.body.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } })
    }
    #expect(starts().count == 3)
  }

  // MARK: What others do to the files

  @Test func `a file that is lost is a miss and counted, and its entry goes`() throws {
    let store = try directory.open()
    Self.put(store, 0..<3)
    for name in Self.names(directory) { try directory.remove("bodies/\(name)") }
    // What one lookup has removed would be committed while the next one looks, and that begin anew.
    let (isKept, goesOn) = (Latch(), Latch())
    store.core.afterCommit {
      isKept.open()
      goesOn.block()
    }
    isKept.block()
    #expect((0..<3).allSatisfy { store.lookup("\($0)").isMissing })
    goesOn.open()
    store.flush()
    #expect(store.statistics.damaged == 3 && store.statistics.entries == 0)
    #expect(store.statistics.bytes < Self.long)
    Self.put(store, 50..<53)
    #expect(store.lookup("1")?.bytes == pattern(51, count: Self.long))
  }

  /// By a process that reads it for the first time.
  @Test(arguments: [Damage.cut, .longer, .changed, .folder, .link, .pipe])
  func `a file that is not what was written is never served`(_ damage: Damage) throws {
    let first = try directory.open()
    Self.put(first, 0..<1)
    first.close()
    try damage.happen(to: "bodies/" + #require(Self.names(directory).first), in: directory)
    let store = try directory.open()
    #expect(store.lookup("0").isMissing)
    Self.put(store, 50..<51)
    #expect(store.lookup("0")?.bytes == pattern(50, count: Self.long))
  }

  enum Damage: Sendable {
    case cut, longer, changed, folder, link, pipe

    func happen(to name: String, in directory: TestFolder) throws {
      switch self {
      case .cut: try directory.change(name) { $0.removeLast() }
      case .longer: try directory.change(name) { $0.append(0) }
      case .changed: try directory.change(name) { $0[BodyFilesTests.long / 2] ^= 1 }
      case .pipe: try directory.replaceByFIFO(name)
      case .folder:
        try directory.remove(name)
        try TestFiles.makeDirectory(directory[name])
      case .link:
        let other = try directory.write(name + ".other", directory.read(name))
        try directory.remove(name)
        try directory.link(name, to: other)
      }
    }
  }

  @Test func `files that no record names go when the store is opened`() async throws {
    let first = try directory.open()
    Self.put(first, 0..<3)
    let named = Self.names(directory)
    first.close()
    for number in 0..<5 { try directory.write("bodies/00000000000000a\(number)", [1, 2, 3]) }
    let store = try directory.open()
    #expect(await until { Self.names(directory) == named })
    #expect((0..<3).allSatisfy { store.lookup("\($0)")?.bytes == pattern($0, count: Self.long) })
  }

  /// However long this one has had it open.
  @Test func `files that no record names go when another process opens the store`() async throws {
    let store = try directory.open()
    Self.put(store, 0..<3)
    let named = Self.names(directory)
    try directory.write("bodies/00000000000000a0", [1, 2, 3])
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let other = try CacheStore.open(CacheStoreSettings(directory: path))
      other.flush()
    }
    #expect(Self.names(directory) == named)
    #expect((0..<3).allSatisfy { store.lookup("\($0)")?.bytes == pattern($0, count: Self.long) })
  }

  @Test func `a store that begins anew has no old files`() async throws {
    let first = try directory.open()
    Self.put(first, 0..<3)
    first.close()
    try directory.write("data.mdb", [UInt8](repeating: 7, count: 10_000))
    let store = try directory.open()
    #expect(await until { Self.names(directory).isEmpty })
    Self.put(store, 0..<1)
    #expect(store.lookup("0")?.bytes == pattern(0, count: Self.long))
  }

  @Test func `a folder of bodies that is a symlink is refused`() throws {
    let (directory, other) = (try TestFolder(), try TestFolder())
    try directory.link("bodies", to: other.path)
    #expect(throws: NetworkError.self) { try directory.open() }
  }

  // MARK: Spools

  private static func spool(_ bytes: [UInt8], times: Int, in directory: String) throws -> SpoolFile {
    let file = try SpoolFile(in: directory, room: BudgetRoom(1 << 30))
    for _ in 0..<times { try file.append(bytes.rawBytes) }
    return file
  }

  @Test func `a spool becomes the stored file, and one that cannot is copied`() throws {
    let (directory, other) = (try TestFolder(), try TestFolder(in: TestFiles.fast))
    let store = try directory.open()
    let bytes = pattern(1, count: 100_000)
    // On another file system there is no way to give it a name.
    for (key, folder) in [("here", directory.path), ("elsewhere", other.path)] {
      let file = try Self.spool(bytes, times: 3, in: folder)
      store.put(StoreKey(key), namespace: "n", metadata: [], body: .spooled(file), askedAt: .max)
      #expect(store.lookup(key)?.bytes == bytes + bytes + bytes)
      store.flush()
      #expect(store.lookup(key)?.bytes == bytes + bytes + bytes)
    }
    store.close()
    let again = try directory.open()
    for key in ["here", "elsewhere"] { #expect(again.lookup(key)?.bytes == bytes + bytes + bytes) }
  }

  @Test(.notSanitized(.memoryIsNoMeasure))
  func `a body of 256 MiB is stored and read without memory of its own`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestFolder()
      let store = try directory.open {
        $0.bytesMax = 1 << 30; $0.bodyBytesMax = 1 << 30
      }
      let piece = pattern(1, count: 1 << 20)
      let file = try BodyFilesTests.spool(piece, times: 256, in: directory.path)
      let (before, isOver, most) = (MemoryUse.anonymous, Flag(), Counter())
      let watch = try SystemThread.start(name: "watch") {
        while !isOver.isSet { most.raise(to: MemoryUse.anonymous) }
      }
      store.put(StoreKey("a"), namespace: "n", metadata: [], body: .spooled(file), askedAt: .max)
      store.flush()
      guard let hit = store.lookup("a") else { preconditionFailure("not stored") }
      precondition(hit.body.count == 256 << 20 && hit.body.copy(of: (255 << 20)..<(256 << 20)) == piece)
      isOver.set()
      watch.join()
      precondition(most.value - before < 8 << 20, "\((most.value - before) >> 20) MiB")
    }
  }

  @Test func `a child of fork reads on in what was found before`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestFolder()
      let store = try directory.open()
      BodyFilesTests.put(store, 0..<1)
      BodyFilesTests.put(store, 1..<2, size: 8_000)
      let hits = (0..<2).compactMap { store.lookup("\($0)") }
      let (long, short) = (pattern(0, count: BodyFilesTests.long), pattern(1, count: 8_000))
      let child = forkedInTime { hits[0].bytes == long && hits[1].bytes == short ? 0 : 1 }
      precondition(child == 0)
    }
  }
}
