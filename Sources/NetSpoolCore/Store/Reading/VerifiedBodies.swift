/// Which bodies' checksums this process has compared: a bit per body id.
///
/// Ids of one process follow each other, so the bits stand in blocks of 32,768. There are at most 256 blocks
/// (1 MiB); a newer one takes the place of an older one, whose bodies are then compared once more.
struct VerifiedBodies {
  private struct Block {
    var number: UInt64
    var bits: [UInt64]
  }

  private static let blockBits = 15
  private static let blocksMax = 256
  private var blocks: [Block] = []

  func contains(_ id: UInt64) -> Bool {
    let number = id >> Self.blockBits
    let place = Int(number % UInt64(Self.blocksMax))
    guard place < blocks.count, blocks[place].number == number else { return false }
    let bit = Int(id & ((1 << Self.blockBits) - 1))
    return blocks[place].bits[bit / 64] & (1 << UInt64(bit % 64)) != 0
  }

  mutating func insert(_ id: UInt64) {
    let number = id >> Self.blockBits
    let place = Int(number % UInt64(Self.blocksMax))
    while blocks.count <= place { blocks.append(Block(number: .max, bits: [])) }
    if blocks[place].number != number {
      blocks[place] = Block(number: number, bits: Array(repeating: 0, count: 1 << (Self.blockBits - 6)))
    }
    let bit = Int(id & ((1 << Self.blockBits) - 1))
    blocks[place].bits[bit / 64] |= 1 << UInt64(bit % 64)
  }
}
