/// gzip streams (RFC 1952) written by hand, so that the origin needs no zlib and can write wrong ones.
///
/// Layout: `1f 8b 08 00`, four bytes of time (0), `00 ff`; deflate blocks; CRC-32 and length, little endian.
public enum Gzip {
  static let header: [UInt8] = [0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff]

  /// These bytes as gzip, in stored blocks: valid, and 5 bytes per 64 KiB longer than what went in.
  public static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var writer = BitWriter()
    writer.raw(header)
    writeStored(bytes, isLast: true, to: &writer)
    writer.raw(trailer(crc: CRC32.checksum(bytes), count: bytes.count))
    return writer.bytes
  }

  static func trailer(crc: UInt32, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendLittleEndian(crc)
    bytes.appendLittleEndian(UInt32(truncatingIfNeeded: count))
    return bytes
  }

  /// Stored blocks (RFC 1951 section 3.2.4), 65,535 bytes each at most.
  static func writeStored(_ bytes: [UInt8], isLast: Bool, to writer: inout BitWriter) {
    var start = 0
    repeat {
      let end = min(start + 65_535, bytes.count)
      writer.number(isLast && end == bytes.count ? 1 : 0, bits: 1)
      writer.number(0, bits: 2)
      writer.alignToByte()
      let count = UInt32(end - start)
      writer.number(count, bits: 16)
      writer.number(~count & 0xffff, bits: 16)
      writer.raw(bytes[start..<end])
      start = end
    } while start < bytes.count
  }
}
