internal import Dispatch
internal import Glibc
internal import Synchronization

@testable import NetSpool

/// Files of a store that were changed while nobody had them open: what is found is what was put, and the next
/// start works.
///
/// Input: a byte that chooses the store, then changes of six bytes each: page, kind, place (2), length, byte.
enum StoreTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let kind: SampleStore.Kind = input.byte() & 1 == 0 ? .cache : .frozen
    let sample = SampleStore.made(kind)
    var data = sample.data
    while !input.isAtEnd, !data.isEmpty { change(&data, &input) }
    let folder = ScratchFolder()
    folder.write(data, to: "data.mdb")
    folder.write(sample.stamp, to: "stamp")
    if kind == .cache {
      folder.makeFolder("bodies")
      folder.write(sample.longBody.bytes, to: sample.longBody.name)
    }
    // The second start meets what the first one made of it.
    for _ in 0..<2 {
      switch kind {
      case .cache: checkCache(folder)
      case .frozen: checkFrozen(folder)
      }
    }
  }

  private static func change(_ data: inout [UInt8], _ input: inout InputReader) {
    let page = Int(input.byte()) * 4096 % max(data.count, 1)
    let kind = input.byte() % 5
    let place = page + (Int(input.byte()) << 8 | Int(input.byte())) % 4096
    let (length, byte) = (Int(input.byte()) + 1, input.byte())
    let range = min(place, data.count)..<min(place + length, data.count)
    switch kind {
    case 0: if let first = range.first { data[first] ^= byte }
    case 1: if let first = range.first { data[first] = byte }
    case 2: for index in range { data[index] = byte }
    case 3: for index in range { data[index] = data[(index + Int(byte) * 4096) % data.count] }
    default: data.removeSubrange(min(byte & 1 == 0 ? place / 4096 * 4096 : place, data.count)...)
    }
  }

  private static func checkCache(_ folder: ScratchFolder) {
    guard let store = try? CacheStore.open(SampleStore.cacheSettings(folder)) else {
      broken("a cache can always be opened")
    }
    for number in 0..<SampleStore.count {
      guard let hit = store.lookup(SampleStore.key(number)) else { continue }
      require(hit.metadata == SampleStore.metadata(number), "metadata is what was put")
      require(hit.body.array == SampleStore.body(number), "a body is what was put")
    }
    store.put(SampleStore.key(90), namespace: "b", metadata: [], body: SampleStore.body(90))
    store.remove(SampleStore.key(1))
    store.flush()
    let new = store.lookup(SampleStore.key(90))?.body.array
    require(new == SampleStore.body(90), "what is put is found")
    store.close()
  }

  private static func checkFrozen(_ folder: ScratchFolder) {
    guard let store = try? FrozenStore.open(SampleStore.frozenSettings(folder)) else {
      broken("a frozen store can always be opened")
    }
    let found = Mutex<[UInt64]>([])
    try? store.scan { number, _, payload in
      require(
        number > SampleStore.count || [UInt8](payload) == SampleStore.metadata(Int(number)), "a row is whole")
      found.withLock { $0.append(number) }
      return true
    }
    for number in found.withLock({ $0 }) {
      let receipt = SampleStore.write(.attempt(number, payload: SampleStore.metadata(Int(number))), to: store)
      if let receipt, number <= SampleStore.count {
        require(receipt.body == SampleStore.body(Int(number)), "a body is what was accepted")
      }
    }
    _ = try? (store.endings(.outcomes), store.endings(.deadLetters))
    store.close()
  }
}
