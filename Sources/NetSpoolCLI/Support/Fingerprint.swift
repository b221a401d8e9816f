/// 96 bits that stand for a text in the `Ledger`.
///
/// Two runs of the standard library's keyed hash (its key is drawn per process, so no list can be made to
/// collide). With 10 million texts the chance that any two share a fingerprint is about 10^-15.
struct Fingerprint: Hashable {
  let high: UInt64
  let low: UInt32

  /// What the text is used for: equal texts in different rooms have different fingerprints.
  enum Room: UInt8 { case line, done, file, directory, result }

  init(_ room: Room, _ first: String, _ second: String = "") {
    high = Self.hash(room.rawValue, first, second)
    low = UInt32(truncatingIfNeeded: Self.hash(room.rawValue | 0x80, first, second))
  }

  init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }

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
