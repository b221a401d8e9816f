/// Remembers a 32-bit number for each of any number of texts, in bounded memory.
///
/// An open-addressing hash table of 16-byte slots, seven tenths full at most. Its pages are in memory up to
/// 2 MiB and in an unlinked temporary file beyond that: 10 million texts take 256 MiB of disk and stay
/// under 4 MiB resident, where a `Set<String>` of them takes over 1 GiB. Removal is not needed and not
/// offered. Not thread-safe: the job's thread owns it.
final class Ledger {
  /// How many texts are remembered.
  private(set) var count = 0

  private let directory: String
  private let framesMax: Int
  private var pages: LedgerPages

  /// - Parameters:
  ///   - directory: where the temporary file goes, should one be needed. Not `/tmp` by default, which is
  ///     memory on many systems.
  ///   - framesMax: pages of 4 KiB held in memory; 512 by default.
  init(directory: String = "/var/tmp", framesMax: Int = 512) {
    self.directory = directory
    self.framesMax = framesMax
    pages = LedgerPages(slotCount: 16 * LedgerPages.pageSlots, framesMax: framesMax, directory: directory)
  }

  /// `$TMPDIR`, else `/var/tmp`.
  static func temporaryDirectory(_ environment: Environment) -> String {
    environment["TMPDIR"] ?? "/var/tmp"
  }

  /// The number kept for a text; nil when it was never seen.
  func value(_ key: Fingerprint) throws(IOFailure) -> UInt32? {
    try find(key, in: pages).value
  }

  /// Keeps `value` unless the text is known already; then gives the number kept, and changes nothing.
  @discardableResult
  func insert(_ key: Fingerprint, _ value: UInt32 = 0) throws(IOFailure) -> UInt32? {
    let found = try find(key, in: pages)
    if let known = found.value { return known }
    try put(key, value, at: found.slot, in: pages)
    count += 1
    if count * 10 > pages.slotCount * 7 { try grow() }
    return nil
  }

  /// Keeps `value`, whatever was kept before.
  func set(_ key: Fingerprint, _ value: UInt32) throws(IOFailure) {
    guard try insert(key, value) != nil else { return }
    try put(key, value, at: find(key, in: pages).slot, in: pages)
  }

  /// The largest number that can be kept: a stored zero marks an empty slot, so numbers are stored plus one.
  static let valueMax = UInt32.max - 1

  /// The text's slot and number, or the slot where it belongs.
  ///
  /// The table is addressed by the hash's highest bits, so it stays nearly sorted by hash. That makes
  /// `grow()` a sequential walk through both files instead of a random one.
  private func find(_ key: Fingerprint, in pages: LedgerPages) throws(IOFailure) -> (
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

  private func put(
    _ key: Fingerprint, _ value: UInt32, at slot: Int, in pages: LedgerPages
  ) throws(IOFailure) {
    try pages.write(slot, high: key.high, low: UInt64(key.low) << 32 | UInt64(min(value, Self.valueMax) + 1))
  }

  private func grow() throws(IOFailure) {
    let wider = LedgerPages(
      slotCount: pages.slotCount * 2, framesMax: framesMax, directory: directory)
    for slot in 0..<pages.slotCount {
      let (high, low) = try pages.read(slot)
      guard UInt32(truncatingIfNeeded: low) != 0 else { continue }
      let key = Fingerprint(high: high, low: UInt32(low >> 32))
      try wider.write(find(key, in: wider).slot, high: high, low: low)
    }
    pages = wider
  }
}
