/// Which bodies this process has compared with their checksums: a bit per body id.
///
/// Ids of one process follow each other, so the bits stand in blocks of 32,768. There are at most 256 blocks
/// (1 MiB); a newer one takes the place of an older one, whose bodies are then compared once more.
struct VerifiedBodies {
  private static let blockBits = 15
  private static let blockWords = 1 << (blockBits - 6)
  private static let blocksMax = 256
  /// Which block stands at a place.
  private var numbers: [UInt64] = []
  /// The blocks, one behind the other.
  private var words: [UInt64] = []

  func contains(_ id: UInt64) -> Bool {
    let (number, place) = Self.block(of: id)
    guard place < numbers.count, numbers[place] == number else { return false }
    return words[Self.word(of: id, in: place)] & (1 << (id % 64)) != 0
  }

  mutating func insert(_ id: UInt64) {
    let (number, place) = Self.block(of: id)
    while numbers.count <= place {
      numbers.append(.max)
      words.append(contentsOf: repeatElement(0, count: Self.blockWords))
    }
    if numbers[place] != number {
      numbers[place] = number
      for index in 0..<Self.blockWords { words[place * Self.blockWords + index] = 0 }
    }
    words[Self.word(of: id, in: place)] |= 1 << (id % 64)
  }

  private static func block(of id: UInt64) -> (number: UInt64, place: Int) {
    let number = id >> blockBits
    return (number, Int(number % UInt64(blocksMax)))
  }

  private static func word(of id: UInt64, in place: Int) -> Int {
    place * blockWords + Int(id >> 6) & (blockWords - 1)
  }
}
