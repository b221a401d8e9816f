import Testing

@testable import NetSpool
@testable import TestSupport

/// The table holds what a dictionary would, in order.
struct FrozenTableTests {
  @Test(arguments: 0..<20 as Range<UInt64>) func `it holds what a dictionary would`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var table = FrozenTable<Int>()
    var model: [FrozenID: Int] = [:]
    var newest: UInt64 = 0
    for step in 0..<400 {
      switch random.next() % 8 {
      case 0..<4 where !random.chance(30) || newest == 0:
        newest += 1 + random.next() % 2
        table[FrozenID(newest)] = step
        model[FrozenID(newest)] = step
      case 0..<4:
        // One that was revived, or is changed
        let id = FrozenID(1 + random.next() % newest)
        table[id] = step
        model[id] = step
      case 4:
        let id = FrozenID(random.next() % (newest + 2))
        #expect(table.removeValue(forKey: id) == model.removeValue(forKey: id), "seed \(seed), step \(step)")
      default:
        guard let first = table.first else { continue }
        table[first.id] = nil
        model[first.id] = nil
      }
      let id = FrozenID(random.next() % (newest + 2))
      #expect(table[id] == model[id] && table.count == model.count, "seed \(seed), step \(step)")
      #expect(table.first?.id == model.keys.min(), "seed \(seed), step \(step)")
    }
    let inOrder = model.sorted { $0.key < $1.key }
    #expect(
      table.inOrder.map(\.id) == inOrder.map(\.key) && table.inOrder.map(\.value) == inOrder.map(\.value))
  }
}
