import Testing

@testable import NetSpool
@testable import TestSupport

/// Which entries the parts of a body stand in.
struct PartTableTests {
  /// Puts ranges, and reads the body back from what the table says, against an array of who wrote each byte
  /// last.
  @Test func `every byte is of the piece that came last`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      var (table, truth) = (PartTable(), [UInt64](repeating: 0, count: 200))
      var starts: [UInt64: Int64] = [:]
      for number: UInt64 in 1...20 {
        let lower = Int64.random(in: 0..<199, using: &random)
        let range = lower..<Int64.random(in: lower + 1...200, using: &random)
        table.put(range, at: number)
        starts[number] = range.lowerBound
        for index in range { truth[Int(index)] = number }
      }
      #expect(PartTable(decoding: table.encode().rawBytes) == table, "seed \(seed)")
      var read = [UInt64](repeating: 0, count: 200)
      for piece in table.pieces {
        #expect(piece.skipped == piece.range.lowerBound - (starts[piece.number] ?? -1), "seed \(seed)")
        for index in piece.range { read[Int(index)] = piece.number }
      }
      #expect(read == truth, "seed \(seed)")
      for range in table.ranges { #expect(table.pieces(of: range) != nil, "seed \(seed)") }
      #expect(table.ranges.reduce(0) { $0 + $1.count } == truth.count { $0 > 0 }, "seed \(seed)")
      #expect((table.pieces(of: 0..<200) == nil) == truth.contains(0), "seed \(seed)")
    }
  }

  /// What is written for a thousand parts in order: each, and what is joined.
  @Test func `parts in order are written a few times each, however many they are`() {
    var (table, written, number) = (PartTable(), 0, UInt64(0))
    let size: Int64 = 16 << 10
    for part in Int64(0)..<1_000 {
      number += 1
      table.put(part * size..<(part + 1) * size, at: number)
      written += Int(size)
      for range in table.rangesToJoin {
        number += 1
        table.put(range, at: number)
        written += range.count
      }
      #expect(table.pieces.count <= PartTable.piecesMax + 1)
    }
    #expect(table.ranges == [0..<1_000 * size])
    #expect(written <= 3 * 1_000 * Int(size))
  }

  @Test func `bytes that are no table are none`() {
    var table = PartTable()
    table.put(5..<9, at: 1)
    table.put(20..<30, at: 2)
    let bytes = table.encode()
    for end in 0..<bytes.count { #expect(PartTable(decoding: Array(bytes[..<end]).rawBytes) != table) }
    let swapped = Array(bytes[32...] + bytes[..<32])
    #expect(PartTable(decoding: swapped.rawBytes) == nil && PartTable(decoding: [UInt8]().rawBytes) == nil)
  }
}
