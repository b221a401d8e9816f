import Glibc

/// The ledger's table as pages of 4 KiB, of which at most `framesMax` are in memory.
///
/// A slot is two words: the high 64 bits of a fingerprint, then its low 32 bits above a 32-bit value.
/// Page `p` lives in frame `p % framesMax`; a changed page goes to an unlinked temporary file when another
/// needs its frame. A table that fits its frames never makes a file.
final class LedgerPages {
  static let pageWords = 512
  static let pageSlots = pageWords / 2

  let slotCount: Int
  private let directory: String
  private let frameCount: Int
  private var words: [UInt64]
  private var pageOfFrame: [Int]
  private var isChanged: [Bool]
  private var file: Descriptor?

  /// - Parameter slotCount: a power of two, at least one page.
  init(slotCount: Int, framesMax: Int, directory: String) {
    self.slotCount = slotCount
    self.directory = directory
    frameCount = min(framesMax, slotCount / Self.pageSlots)
    words = [UInt64](repeating: 0, count: frameCount * Self.pageWords)
    pageOfFrame = Array(0..<frameCount)
    isChanged = [Bool](repeating: false, count: frameCount)
  }

  func read(_ slot: Int) throws(IOFailure) -> (high: UInt64, low: UInt64) {
    let word = try locate(slot)
    return (words[word], words[word + 1])
  }

  func write(_ slot: Int, high: UInt64, low: UInt64) throws(IOFailure) {
    let word = try locate(slot)
    words[word] = high
    words[word + 1] = low
    isChanged[word / Self.pageWords] = true
  }

  /// The index in `words` of a slot, after its page was brought in.
  private func locate(_ slot: Int) throws(IOFailure) -> Int {
    let page = slot / Self.pageSlots
    let frame = page % frameCount
    if pageOfFrame[frame] != page { try bring(page, into: frame) }
    return frame * Self.pageWords + slot % Self.pageSlots * 2
  }

  private func bring(_ page: Int, into frame: Int) throws(IOFailure) {
    if isChanged[frame] { try save(frame) }
    if file == nil {
      fill(frame, from: 0)
    } else {
      try load(page, into: frame)
    }
    pageOfFrame[frame] = page
  }

  private func save(_ frame: Int) throws(IOFailure) {
    if file == nil { file = try makeFile() }
    try file!.write(
      words, at: frame * Self.pageWords, count: Self.pageWords, fileOffset: offset(pageOfFrame[frame]))
    isChanged[frame] = false
  }

  private func load(_ page: Int, into frame: Int) throws(IOFailure) {
    try file!.read(
      into: &words, at: frame * Self.pageWords, count: Self.pageWords, fileOffset: offset(page))
  }

  /// Before the first page was saved, a page outside the frames can only be empty.
  private func fill(_ frame: Int, from value: UInt64) {
    for word in frame * Self.pageWords..<(frame + 1) * Self.pageWords { words[word] = value }
  }

  /// Full length at once: pages never saved then read as zeros, and take no room on the disk.
  private func makeFile() throws(IOFailure) -> Descriptor {
    let file = try Descriptor.unlinkedTemporary(in: directory)
    try file.resize(to: slotCount * 16)
    return file
  }

  private func offset(_ page: Int) -> Int { page * Self.pageWords * 8 }
}
