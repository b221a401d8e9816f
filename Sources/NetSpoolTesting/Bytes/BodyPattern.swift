/// The generated body: byte `n` is always the same, so a download of any size can be checked at any
/// offset, and a body stitched from two pieces shows its seam.
///
/// The period is a prime (65,521): pieces moved by a power of two do not match.
public enum BodyPattern {
  static let period = 65_521
  static let block: [UInt8] = (0..<period).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }

  /// The byte at this offset of every generated body.
  public static func byte(at offset: Int) -> UInt8 { block[offset % period] }

  /// `count` bytes from this offset on.
  public static func bytes(_ count: Int, from offset: Int = 0) -> [UInt8] {
    let block = Self.block
    return (0..<count).map { block[(offset + $0) % period] }
  }

  /// Whether these bytes are what a generated body holds from this offset on.
  public static func matches(_ bytes: some Sequence<UInt8>, at offset: Int = 0) -> Bool {
    let block = Self.block
    var index = offset % period
    for byte in bytes {
      guard byte == block[index] else { return false }
      index = index + 1 == period ? 0 : index + 1
    }
    return true
  }
}
