import Testing

@testable import NetSpool
@testable import TestSupport

/// A store in less room than is put into it.
struct StoreEvictionTests {
  private static let body = pattern(1, count: 8_000)

  @Test func `recency outlives the process's use`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let change: (inout CacheStoreSettings) -> Void = {
      $0.bytesMax = 1 << 20
      $0.recencyStep = 0
    }
    // Given entries of which the oldest was used last, before the store was closed
    var store = try directory.open(change)
    for number in 0..<80 { store.put("\(number)", Self.body) }
    store.flush()
    #expect(!store.lookup("0").isMissing)
    store.close()
    // When room must be made after the reopening
    store = try directory.open(change)
    for number in 100..<160 { store.put("\(number)", Self.body) }
    store.flush()
    // Then the second oldest went before it
    #expect(!store.lookup("0").isMissing)
    #expect(store.lookup("1").isMissing)
  }

  @Test func `a quota binds its namespace only`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open { $0.quotas = ["small": 200_000] }
    for number in 0..<100 {
      store.put("s\(number)", Self.body, namespace: "small")
      store.put("l\(number)", Self.body, namespace: "large")
    }
    store.flush()
    let small = (0..<100).filter { !store.lookup("s\($0)").isMissing }
    #expect((20...24).contains(small.count) && small.last == 99 && small == Array(small[0]..<100))
    #expect((0..<100).allSatisfy { !store.lookup("l\($0)").isMissing })
  }

  @Test(arguments: [nil, 0, 1, 200_000, Int.max - 1])
  func `a quota is read as it was written`(quota: Int?) {
    for name in ["", "n"] {
      let record = NamespaceRecord(number: 7, name: name, bytes: 1, entries: 2, quota: quota)
      #expect(NamespaceRecord(number: 7, decoding: record.encode().rawBytes) == record)
    }
  }

  @Test(arguments: [false, true]) func `what is read constantly survives any churn`(hasQuota: Bool) throws {
    // Given a store or a namespace of 8 MiB, and fifty entries
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open {
      if hasQuota { $0.quotas = ["n": 8 << 20] } else { $0.bytesMax = 8 << 20 }
    }
    let kept = (0..<50).map { StoreKey("kept \($0)") }
    for key in kept { store.put(key, namespace: "n", metadata: [], body: Self.body) }
    // When 100 MiB pass, up to three of them at once
    var random = SplitMix64(seed: 7)
    let bytes = pattern(2, count: 256 << 10)
    var lost: [Int] = []
    for round in 0..<100 {
      var left = 1 << 20
      while left > 0 {
        let body = Array(
          bytes.prefix(Int.random(in: 1..<1 << Int.random(in: 8...18, using: &random), using: &random)))
        store.put("\(round) \(left)", body)
        left -= body.count
      }
      for key in kept where store.lookup(key).isMissing { lost.append(round) }
      if round % 3 == 2 { store.flush() }
    }
    // Then those that were read after each of them are there
    store.flush()
    #expect(lost.isEmpty && kept.allSatisfy { !store.lookup($0).isMissing })
    #expect(store.statistics.evictions > 500 && store.statistics.dropped == 0)
  }

  @Test func `bodies of many sizes keep the file within its limit`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open { $0.bytesMax = 8 << 20 }
    var random = SplitMix64(seed: 7)
    let bytes = pattern(2, count: 1 << 20)
    for number in 0..<600 {
      let size = Int.random(in: 0..<1 << Int.random(in: 4...20, using: &random), using: &random)
      store.put("\(number % 200)", Array(bytes.prefix(size)))
      if number % 5 == 0 { store.flush() }
    }
    store.flush()
    #expect(store.statistics.bytes <= 8 << 20)
    #expect(store.statistics.fileBytes <= 28 << 20)
  }
}
