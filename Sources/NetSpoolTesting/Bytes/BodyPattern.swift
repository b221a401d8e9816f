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
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let begin = (offset + bytes.count) % period
      bytes += block[begin..<min(period, begin + count - bytes.count)]
    }
    return bytes
  }

  /// True when these bytes are what a generated body holds from this offset on.
  public static func matches(_ bytes: some Sequence<UInt8>, at offset: Int = 0) -> Bool {
    let bytes = Array(bytes)
    return bytes == Self.bytes(bytes.count, from: offset)
  }
}

/// Small valid PNG images, a different one for each number and always the same one for the same number.
public enum Thumbnail {
  /// Width and height in pixels.
  public static let side = 32

  /// Image `number` as a PNG file: 8-bit RGB, about 3 KiB, its pixels in a stored zlib block.
  public static func png(_ number: Int) -> [UInt8] {
    var file: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    var size: [UInt8] = []
    size.appendBigEndian(UInt32(side))
    size.appendBigEndian(UInt32(side))
    appendChunk("IHDR", size + [8, 2, 0, 0, 0], to: &file)
    appendChunk("IDAT", zlibStored(pixels(number)), to: &file)
    appendChunk("IEND", [], to: &file)
    return file
  }

  /// Rows of a filter byte (0, none) and RGB triples: a gradient whose colours and slope come from the number.
  private static func pixels(_ number: Int) -> [UInt8] {
    let seed = UInt64(bitPattern: Int64(number)) &* 0x9e37_79b9_7f4a_7c15
    let base = (0..<3).map { UInt8(truncatingIfNeeded: seed >> (8 * UInt64($0) + 16)) }
    let slope = UInt8(truncatingIfNeeded: seed >> 48) % 7 + 1
    var rows: [UInt8] = []
    rows.reserveCapacity(side * (3 * side + 1))
    for row in 0..<UInt8(side) {
      rows.append(0)
      for column in 0..<UInt8(side) {
        rows.append(base[0] &+ row &* slope)
        rows.append(base[1] &+ column &* slope)
        rows.append(base[2] &+ (row ^ column) &* 2)
      }
    }
    return rows
  }

  /// A zlib stream (RFC 1950) of stored blocks.
  private static func zlibStored(_ bytes: [UInt8]) -> [UInt8] {
    var writer = BitWriter()
    writer.raw([0x78, 0x01])
    Gzip.writeStored(bytes, isLast: true, to: &writer)
    var stream = writer.bytes
    stream.appendBigEndian(Checksum.adler32(bytes))
    return stream
  }

  /// Length, type, data, and the CRC-32 of type and data (PNG section 5.3).
  private static func appendChunk(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
    let typed = Array(type.utf8) + data
    file.appendBigEndian(UInt32(data.count))
    file.append(contentsOf: typed)
    file.appendBigEndian(Checksum.crc32(typed))
  }
}
