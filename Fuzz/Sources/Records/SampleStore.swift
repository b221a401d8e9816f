@testable import NetSpool

/// A small store as it is left in order: bodies of many sizes, some replaced, so that there are free pages.
struct SampleStore: Sendable {
  enum Kind { case cache, frozen }

  let data: [UInt8]
  let stamp: [UInt8]
  /// The long body, which lies beside the store; empty in a frozen one.
  let longBody: (name: String, bytes: [UInt8])

  static let count = 12

  static func made(_ kind: Kind) -> SampleStore { kind == .cache ? cache : frozen }

  private static let cache = {
    let folder = ScratchFolder()
    guard let store = try? CacheStore.open(cacheSettings(folder)) else { broken("a new cache can be opened") }
    for round in 0..<2 {
      for number in round * 4..<count {
        store.put(key(number), namespace: "a", metadata: metadata(number), body: body(number))
      }
      store.flush()
    }
    store.close()
    guard let name = folder.names(in: "bodies").last else { broken("a long body is a file") }
    return SampleStore(
      data: folder.read("data.mdb"), stamp: folder.read("stamp"),
      longBody: (name: "bodies/\(name)", bytes: folder.read("bodies/\(name)")))
  }()

  private static let frozen = {
    let folder = ScratchFolder()
    guard let store = try? FrozenStore.open(frozenSettings(folder)) else {
      broken("a new frozen store can be opened")
    }
    // Its numbers begin with 1.
    for number in 1...count {
      let row = FrozenRow(
        lane: key(number % 3).digest, dedupeKey: [UInt8(number)],
        payload: metadata(number))
      _ = write(.accept(row, body: body(number)), to: store)
    }
    let ending = FrozenEnding(endedAt: .now, payload: [1, 2, 3])
    _ = write(.attempt(2, payload: metadata(2)), to: store)
    _ = write(.finish(2, ending), to: store)
    _ = write(.deadLetter(4, ending, keepsBody: true), to: store)
    store.close()
    return SampleStore(
      data: folder.read("data.mdb"), stamp: folder.read("stamp"), longBody: (name: "", bytes: []))
  }()

  static func cacheSettings(_ folder: ScratchFolder) -> CacheStoreSettings {
    var settings = CacheStoreSettings(directory: folder.path)
    settings.bytesMax = 16 << 20
    return settings
  }

  static func frozenSettings(_ folder: ScratchFolder) -> FrozenStoreSettings {
    var settings = FrozenStoreSettings(directory: folder.path)
    settings.bytesMax = 16 << 20
    return settings
  }

  static func key(_ number: Int) -> StoreKey { StoreKey(Array("https://host.test/\(number)".utf8)) }
  static func metadata(_ number: Int) -> [UInt8] { pattern(number + 100, count: number % 5 * 40) }
  static func body(_ number: Int) -> [UInt8] {
    pattern(number, count: number == count - 1 ? 70_000 : number * number * 37)
  }

  private static func pattern(_ number: Int, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ number &* 7) ^ ($0 >> 4)) }
  }

  /// Nil when it was refused.
  static func write(_ change: FrozenChange, to store: FrozenStore) -> FrozenReceipt? {
    try? store.commit([change])[0]?.get()
  }
}
