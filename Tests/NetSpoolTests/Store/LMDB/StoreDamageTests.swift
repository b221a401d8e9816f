import Testing

@testable import NetSpool
@testable import TestSupport

/// Files that were damaged while nobody had them open. Whatever happened to them: no wrong byte comes out,
/// nothing crashes, and the second start works.
struct StoreDamageTests {
  private static let count = 90

  /// A store with bodies of many sizes, some replaced and removed, so that there are free pages.
  private static func makeSample() throws -> (data: [UInt8], stamp: [UInt8]) {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    for round in 0..<2 {
      for number in 0..<count {
        store.put(key(number), namespace: "n\(number % 3)", metadata: metadata[number], body: bodies[number])
        if number % 50 == 0 { store.flush() }
      }
      for number in stride(from: round, to: count, by: 7) { store.remove(key(number)) }
      store.flush()
    }
    store.close()
    return (try directory.read("data.mdb"), try directory.read("stamp"))
  }

  private static func key(_ number: Int) -> StoreKey { StoreKey("https://example.org/thing/\(number)") }
  private static let metadata = (0..<count).map { pattern($0 + 1_000, count: $0 % 5 * 90) }
  private static let bodies = (0..<count).map { pattern($0, count: $0 * $0 * 7 % 9_000) }

  private static let sample = Result { try makeSample() }

  /// Opens a damaged copy, reads all, changes something, and opens it once more. Other tests, of which some have limits of time,
  /// have their turn between two of these.
  private func check(_ data: [UInt8], _ comment: Comment) async throws {
    await Task.yield()
    let directory = try TestFolder(in: TestFiles.fast)
    try directory.write("data.mdb", data)
    try directory.write("stamp", try Self.sample.get().stamp)
    for start in 0..<2 {
      let store = try directory.open()
      expectNoWrongByte(store, comment)
      store.put("new \(start)", pattern(start, count: 6_000), namespace: "n1")
      for number in stride(from: start, to: Self.count, by: 11) { store.remove(Self.key(number)) }
      for number in stride(from: start, to: Self.count, by: 13) {
        store.put(
          Self.key(number), namespace: "n2", metadata: Self.metadata[number], body: Self.bodies[number])
      }
      store.flush()
      expectNoWrongByte(store, comment)
      let isFound = store.lookup("new \(start)")?.bytes == pattern(start, count: 6_000)
      #expect(isFound, "\(comment) \(store.opening.found) \(store.statistics)")
      store.close()
    }
    #expect(try directory.open().opening.found == .whole, comment)
  }

  private func expectNoWrongByte(_ store: CacheStore, _ comment: Comment) {
    for number in 0..<Self.count {
      guard let hit = store.lookup(Self.key(number)) else { continue }
      #expect(hit.bytes == Self.bodies[number] && hit.metadata == Self.metadata[number], comment)
    }
  }

  @Test(arguments: 0..<(LongRun.isOn ? 20 : 6)) func `a file cut short is replaced`(part: Int) async throws {
    // Sixty sizes, or 200: the odd ones at the beginning, page borders and their neighbours, and others
    let data = try Self.sample.get().data
    var random = SplitMix64(seed: UInt64(part))
    let fixed = [
      [0, 1, 100, 151, 152, 4_095, 4_096, 4_097, 4_248, 8_191],
      [8_192, 8_193, 12_288, data.count - 1, data.count - 4_096],
    ]
    var sizes = part < 2 ? fixed[part] : []
    while sizes.count < 10 {
      let size = Int.random(in: 0..<data.count, using: &random)
      sizes.append(random.chance(50) ? size / 4_096 * 4_096 : size)
    }
    for size in sizes { try await check(Array(data.prefix(size)), "cut to \(size)") }
  }

  @Test(arguments: 0..<(LongRun.isOn ? 400 : 3)) func `random damage never shows`(part: Int) async throws {
    let data = try Self.sample.get().data
    for index in 0..<25 {
      let seed = UInt64(part * 25 + index)
      var random = SplitMix64(seed: seed)
      var damaged = data
      Damage.random(using: &random, to: &damaged)
      try await check(damaged, "seed \(seed)")
    }
  }

  @Test(arguments: 0..<4) func `every byte of the meta pages may be wrong`(quarter: Int) async throws {
    let data = try Self.sample.get().data
    for page in 0..<2 {
      for byte in stride(from: quarter, to: 152, by: LongRun.isOn ? 4 : 24) {
        var damaged = data
        damaged[page * 4_096 + byte] ^= 0x55
        try await check(damaged, "page \(page) byte \(byte)")
      }
    }
  }

  @Test func `everything can be removed from a file whose bodies are damaged`() async throws {
    // Given a file in which the first page of each large body was zeroed
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    for number in 0..<40 {
      store.put(Self.key(number), namespace: "n", metadata: [], body: pattern(number, count: 20_000))
    }
    store.close()
    var data = try directory.read("data.mdb")
    var bodies = 0
    for page in stride(from: 8_192, to: data.count, by: 4_096)
    where data.rawBytes.integer(at: page + 10, as: UInt16.self) == LargeValue.overflowFlag {
      guard data.rawBytes.integer(at: page, as: UInt64.self) == UInt64(page / 4_096) else { continue }
      for index in 0..<4_096 { data[page + index] = 0 }
      bodies += 1
    }
    #expect(bodies == 40)
    try directory.write("data.mdb", data)
    let again = try directory.open()
    #expect(again.opening.found == .whole)
    again.removeAll(namespace: "n")
    // Then the store goes on
    again.write("new", [1])
    #expect(again.lookup("new")?.bytes == [1])
    #expect((0..<40).allSatisfy { again.lookup(Self.key($0)).isMissing })
    #expect(await until { again.statistics.entries == 1 })
  }

  @Test func `a damaged body is a miss and counted`() throws {
    // Given a file whose longest body has a wrong bit, and a time that says nobody touched it
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    let body = pattern(7, count: 60_000)
    store.put("a", body)
    store.close()
    try directory.change { data in
      let middle = body[30_000..<30_008]
      let place = data.indices.first { data[$0] == middle.first && data[$0...].starts(with: middle) }
      data[try #require(place)] ^= 4
    }
    // When it is looked for, it is a miss, and gone
    let again = try directory.open()
    #expect(again.opening.found == .whole)
    #expect(again.lookup("a").isMissing)
    #expect(again.statistics.damaged == 1)
    again.flush()
    #expect(again.statistics.entries == 0)
  }
}

/// Kinds of damage that disks, crashes and people do.
enum Damage {
  static func random(using random: inout SplitMix64, to data: inout [UInt8]) {
    let pages = data.count / 4_096
    for _ in 0...Int.random(in: 0...2, using: &random) {
      let page = Int.random(in: 0..<pages, using: &random) * 4_096
      switch random.next() % 6 {
      case 0: data[page + Int.random(in: 0..<4_096, using: &random)] ^= UInt8(1) << UInt8(random.next() % 8)
      case 1: data[page + Int.random(in: 0..<32, using: &random)] = UInt8(truncatingIfNeeded: random.next())
      case 2: for index in 0..<4_096 { data[page + index] = UInt8(truncatingIfNeeded: random.next()) }
      case 3: for index in 0..<4_096 { data[page + index] = 0 }
      case 4:
        let other = Int.random(in: 0..<pages, using: &random) * 4_096
        for index in 0..<4_096 { data[page + index] = data[other + index] }
      default:
        let sector = page + Int.random(in: 0..<8, using: &random) * 512
        for index in 0..<512 { data[sector + index] = UInt8(truncatingIfNeeded: random.next()) }
      }
    }
  }
}
