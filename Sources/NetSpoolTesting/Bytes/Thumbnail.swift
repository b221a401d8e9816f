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
    stream.appendBigEndian(adler32(bytes))
    return stream
  }

  /// Length, type, data, and the CRC-32 of type and data (PNG section 5.3).
  private static func appendChunk(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
    let typed = Array(type.utf8) + data
    file.appendBigEndian(UInt32(data.count))
    file.append(contentsOf: typed)
    file.appendBigEndian(CRC32.checksum(typed))
  }
}
