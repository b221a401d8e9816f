import Glibc

/// Remembers a 32-bit number for each of any number of texts, in bounded memory.
///
/// An open-addressing hash table of 16-byte slots, seven tenths full at most. Its pages are in memory up to
/// 2 MiB and in an unlinked temporary file beyond that: 10 million texts take 256 MiB of disk and stay
/// under 4 MiB resident, where a `Set<String>` of them takes over 1 GiB. Removal is not needed and not
/// offered. Not thread-safe: the job's thread owns it.
final class Ledger {
  private(set) var count = 0

  private let directory: String
  private let framesMax: Int
  private var pages: LedgerPages

  /// - Parameter directory: of the temporary file, should one be needed; not `/tmp`, which is memory on many systems.
  init(directory: String = "/var/tmp", framesMax: Int = 512) {
    (self.directory, self.framesMax) = (directory, framesMax)
    pages = LedgerPages(slotCount: 16 * LedgerPages.pageSlots, framesMax: framesMax, directory: directory)
  }

  /// `$TMPDIR`, else `/var/tmp`.
  static func temporaryDirectory(_ environment: Environment) -> String { environment["TMPDIR"] ?? "/var/tmp" }

  /// The number kept for a text; nil when it was never seen.
  func value(_ key: Fingerprint) throws(IOFailure) -> UInt32? { try Self.find(key, in: &pages).value }

  /// Keeps `value` unless the text is known already; then gives the number kept, and changes nothing.
  @discardableResult func insert(_ key: Fingerprint, _ value: UInt32 = 0) throws(IOFailure) -> UInt32? {
    let found = try Self.find(key, in: &pages)
    if let known = found.value { return known }
    try Self.put(key, value, at: found.slot, in: &pages)
    count += 1
    if count * 10 > pages.slotCount * 7 { try grow() }
    return nil
  }

  func set(_ key: Fingerprint, _ value: UInt32) throws(IOFailure) {
    guard try insert(key, value) != nil else { return }
    try Self.put(key, value, at: Self.find(key, in: &pages).slot, in: &pages)
  }

  /// The largest number that can be kept: a stored zero marks an empty slot, so numbers are stored plus one.
  static let valueMax = UInt32.max - 1

  /// A length as a number that can be kept; all of 4 GiB and more are one.
  static func value(bytes: Int64) -> UInt32 { UInt32(clamping: min(bytes, Int64(valueMax))) }

  /// What was made of a body, or its digest, as a number that can be kept; 0 is nothing.
  static func value(text: String?) -> UInt32 {
    text.map { max(1, min(Fingerprint(.made, $0).low, valueMax)) } ?? 0
  }

  /// The text's slot and number, or the slot where it belongs.
  ///
  /// The table is addressed by the hash's highest bits, so it stays nearly sorted by hash. That makes
  /// `grow()` a sequential walk through both files instead of a random one.
  private static func find(_ key: Fingerprint, in pages: inout LedgerPages) throws(IOFailure) -> (
    slot: Int, value: UInt32?
  ) {
    var slot = Int(key.high >> UInt64(64 - pages.slotCount.trailingZeroBitCount))
    while true {
      let (high, low) = try pages.read(slot)
      let stored = UInt32(truncatingIfNeeded: low)
      if stored == 0 { return (slot, nil) }
      if high == key.high, low >> 32 == UInt64(key.low) { return (slot, stored - 1) }
      slot = (slot + 1) & (pages.slotCount - 1)
    }
  }

  private static func put(_ key: Fingerprint, _ value: UInt32, at slot: Int, in pages: inout LedgerPages)
    throws(IOFailure)
  { try pages.write(slot, high: key.high, low: UInt64(key.low) << 32 | UInt64(min(value, valueMax) + 1)) }

  private func grow() throws(IOFailure) {
    var wider = LedgerPages(slotCount: pages.slotCount * 2, framesMax: framesMax, directory: directory)
    try Self.move(from: &pages, to: &wider)
    pages = wider
  }

  private static func move(from pages: inout LedgerPages, to wider: inout LedgerPages) throws(IOFailure) {
    for slot in 0..<pages.slotCount {
      let (high, low) = try pages.read(slot)
      guard UInt32(truncatingIfNeeded: low) != 0 else { continue }
      let key = Fingerprint(high: high, low: UInt32(low >> 32))
      try wider.write(find(key, in: &wider).slot, high: high, low: low)
    }
  }
}

/// The ledger's table as pages of 4 KiB, of which at most `framesMax` are in memory.
///
/// A slot is two words: the high 64 bits of a fingerprint, then its low 32 bits above a 32-bit value.
/// Page `p` lives in frame `p % framesMax`; a changed page goes to an unlinked temporary file when another
/// needs its frame. A table that fits its frames never makes a file.
struct LedgerPages: ~Copyable {
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
    (self.slotCount, self.directory) = (slotCount, directory)
    frameCount = min(framesMax, slotCount / Self.pageSlots)
    words = [UInt64](repeating: 0, count: frameCount * Self.pageWords)
    pageOfFrame = Array(0..<frameCount)
    isChanged = [Bool](repeating: false, count: frameCount)
  }

  mutating func read(_ slot: Int) throws(IOFailure) -> (high: UInt64, low: UInt64) {
    let word = try locate(slot)
    return (words[word], words[word + 1])
  }

  mutating func write(_ slot: Int, high: UInt64, low: UInt64) throws(IOFailure) {
    let word = try locate(slot)
    words[word] = high
    words[word + 1] = low
    isChanged[word / Self.pageWords] = true
  }

  /// The index in `words` of a slot, after its page was brought in.
  private mutating func locate(_ slot: Int) throws(IOFailure) -> Int {
    let page = slot / Self.pageSlots
    let frame = page % frameCount
    if pageOfFrame[frame] != page { try bring(page, into: frame) }
    return frame * Self.pageWords + slot % Self.pageSlots * 2
  }

  private mutating func bring(_ page: Int, into frame: Int) throws(IOFailure) {
    if isChanged[frame] { try save(frame) }
    let start = frame * Self.pageWords
    if file == nil {
      // Before the first page was saved, a page outside the frames can only be empty.
      for word in start..<start + Self.pageWords { words[word] = 0 }
    } else {
      let got = try file!.read(
        into: &words, at: start, count: Self.pageWords, fileOffset: Int64(offset(page)))
      guard got == Self.pageWords * 8 else { throw .last("read", "the temporary file in \(directory)") }
    }
    pageOfFrame[frame] = page
  }

  private mutating func save(_ frame: Int) throws(IOFailure) {
    if file == nil { file = try makeFile() }
    try file!.write(
      words, at: frame * Self.pageWords, count: Self.pageWords, fileOffset: offset(pageOfFrame[frame]))
    isChanged[frame] = false
  }

  /// Full length at once: pages never saved then read as zeros, and take no room on the disk.
  private func makeFile() throws(IOFailure) -> Descriptor {
    let file = try Descriptor(unlinkedTemporaryIn: directory)
    try file.resize(to: slotCount * 16)
    return file
  }

  private func offset(_ page: Int) -> Int { page * Self.pageWords * 8 }
}

/// 96 bits that stand for a text in the `Ledger`.
///
/// Two runs of the standard library's keyed hash (its key is drawn per process, so no list can be made to
/// collide). With 10 million texts the chance that any two share a fingerprint is about 10^-15.
struct Fingerprint: Hashable {
  let high: UInt64
  let low: UInt32

  /// What the text is used for: equal texts in different rooms have different fingerprints.
  enum Room: UInt8 { case line, done, file, directory, result, held, made, digest, suffix, key }

  init(_ room: Room, _ first: String, _ second: String = "") {
    // What is done stands in files without users and passwords.
    let isOfRecord = [.done, .result, .made, .digest, .key].contains(room)
    let first = isOfRecord ? URLText.recorded(first) : first
    high = Self.hash(room.rawValue, first, second)
    low = UInt32(truncatingIfNeeded: Self.hash(room.rawValue | 0x80, first, second))
  }

  init(high: UInt64, low: UInt32) { (self.high, self.low) = (high, low) }

  private static func hash(_ salt: UInt8, _ first: String, _ second: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(salt)
    hasher.combine(first.utf8.count)
    combine(first, &hasher)
    combine(second, &hasher)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// The bytes as they are: hashing a `String` would first normalise its Unicode.
  private static func combine(_ text: String, _ hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
