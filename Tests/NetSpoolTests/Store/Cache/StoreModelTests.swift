import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// The store against a dictionary, and under many threads.
struct StoreModelTests {
  private struct Value: Equatable {
    var namespace: String
    var metadata: [UInt8]
    var body: [UInt8]
  }

  @Test(arguments: 1...(LongRun.isOn ? 200 : 3))
  func `it does what a dictionary does`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let directory = try TestFolder(in: TestFiles.fast)
    // With some of them, removals are never finished at once.
    let few: (inout CacheStoreSettings) -> Void = {
      $0.removedAtOnce = seed % 2 == 0 ? 1_000 : 1
      $0.sweepPatience = 0
    }
    var store = try directory.open(few)
    var model: [String: Value] = [:]
    var found: [String: StoreHit] = [:]
    var missed: [String: UInt64] = [:]
    for step in 0..<400 {
      let comment: Comment = "seed \(seed) step \(step)"
      let name = "\(["x", "y"][Int(random.next() % 2)])/\(random.next() % 40)"
      let key = StoreKey(name)
      switch random.next() % 20 {
      case 0..<8:
        let value = Value(
          namespace: "n\(random.next() % 3)", metadata: pattern(step, count: Int(random.next() % 300)),
          body: pattern(step, count: Int(random.next() % 1 << (random.next() % 18))))
        model[name] = value
        store.put(key, namespace: value.namespace, metadata: value.metadata, body: value.body)
      case 8..<11:
        model[name] = nil
        store.remove(key)
      case 11..<13:
        guard let hit = store.lookup(key) else { break }
        model[name]?.metadata = pattern(step + 7, count: 50)
        store.replaceMetadata(key, metadata: pattern(step + 7, count: 50), ifBodyIs: hit.bodyID)
      case 13:
        let (namespace, prefix) = ("n\(random.next() % 3)", ["", "x/", "x/1"][Int(random.next() % 3)])
        model = model.filter { $0.value.namespace != namespace || !$0.key.hasPrefix(prefix) }
        store.removeAll(namespace: namespace, matching: Array(prefix.utf8))
      case 14: store.flush()
      case 15 where random.next() % 4 == 0:
        store.close()
        store = try directory.open(few)
        missed = [:]
        #expect(store.opening.found == .whole, comment)
      default: break
      }
      // Where it was found the last time it is found unchanged, or not at all
      if let last = found[name], let place = last.place {
        for kept in [last.body, nil] {
          guard let again = store.lookup(key, again: place, { kept ?? $0() }) else { continue }
          #expect(again.array == model[name]?.body && last.metadata == model[name]?.metadata, comment)
        }
      }
      // What was not found is there only if it has changed
      if let mark = missed[name], !store.hasChanged(key.digest.first, since: mark) {
        #expect(model[name] == nil, comment)
      }
      let mark = store.mark
      let hit = store.lookup(key)
      found[name] = hit
      missed[name] = hit.isMissing ? mark : nil
      #expect(hit?.bytes == model[name]?.body && hit?.metadata == model[name]?.metadata, comment)
    }
    // What nobody finds any more is taken out a little later; who writes sees what was left behind at a close.
    if let (name, value) = model.first {
      store.put(name, value.body, namespace: value.namespace, metadata: value.metadata)
    }
    store.flush()
    for _ in 0..<300_000 where store.statistics.entries != model.count { usleep(1_000) }
    #expect(store.statistics.entries == model.count, "seed \(seed)")
    for (name, value) in model {
      let hit = store.lookup(name)
      #expect(hit?.bytes == value.body && hit?.metadata == value.metadata, "seed \(seed) \(name)")
    }
  }

  @Test func `ten thousand lookups at once beside a writer`() async throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    let bodies = (0..<64).map { pattern($0, count: 3_000 + $0) }
    for number in 0..<64 { store.put("\(number)", bodies[number]) }
    let wrong = await withTaskGroup(of: Int.self) { group in
      for worker in 0..<5 {
        group.addTask {
          (0..<2_000).count { round in
            let number = (round * 7 + worker) % 64
            return store.lookup("\(number)")?.bytes != bodies[number]
          }
        }
      }
      group.addTask {
        for round in 0..<2_000 { store.put("\(round % 64)", bodies[round % 64]) }
        return 0
      }
      return await group.reduce(0, +)
    }
    #expect(wrong == 0)
    #expect(store.statistics.damaged == 0 && store.statistics.hits == 10_000)
  }

  @Test func `a removal is never seen late on any thread`() async throws {
    // Given two threads of which one removes and tells the other
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open()
    let (removed, acknowledge) = AsyncStream<Int>.makeStream()
    async let late = removed.reduce(into: 0) { late, number in
      if !store.lookup("\(number)").isMissing { late += 1 }
    }
    for number in 0..<500 {
      store.put("\(number)", [1])
      if number % 3 == 0 { store.flush() }
      store.remove(StoreKey("\(number)"))
      acknowledge.yield(number)
    }
    acknowledge.finish()
    // Then the other never finds it
    #expect(await late == 0)
  }
}
