/// gzip streams (RFC 1952) written by hand: zlib, which has the checksums, writes no bombs.
///
/// Layout: `1f 8b 08 00`, four bytes of time (0), `00 ff`; deflate blocks; CRC-32 and length, little endian.
public enum Gzip {
  static let header: [UInt8] = [0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff]

  /// These bytes as gzip, in stored blocks: valid, and 5 bytes per 64 KiB longer than what went in.
  public static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var writer = BitWriter()
    writer.raw(header)
    writeStored(bytes, isLast: true, to: &writer)
    writer.raw(trailer(crc: Checksum.crc32(bytes), count: bytes.count))
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

/// Bits as deflate packs them (RFC 1951 section 3.1.1): numbers least significant bit first, Huffman codes
/// most significant bit first.
struct BitWriter {
  private(set) var bytes: [UInt8] = []
  private var pending: UInt32 = 0
  private var pendingCount: UInt32 = 0

  /// At most 16 bits.
  mutating func number(_ value: UInt32, bits: UInt32) {
    pending |= value << pendingCount
    pendingCount += bits
    while pendingCount >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: pending))
      pending >>= 8
      pendingCount -= 8
    }
  }

  mutating func code(_ bits: String) {
    for bit in bits.utf8 { number(bit == UInt8(ascii: "1") ? 1 : 0, bits: 1) }
  }

  mutating func alignToByte() {
    if pendingCount > 0 { number(0, bits: 8 - pendingCount) }
  }

  mutating func raw(_ more: some Sequence<UInt8>) {
    alignToByte()
    bytes.append(contentsOf: more)
  }

  /// Whole zero bytes, wherever in a byte we stand: eight zero bits each.
  mutating func zeroBytes(_ count: Int) {
    for _ in 0..<count { number(0, bits: 8) }
  }

  /// The full bytes so far; the bits of an unfinished byte stay and go in front of what comes next.
  mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}

extension [UInt8] {
  mutating func appendLittleEndian(_ value: UInt32) {
    for shift in [0, 8, 16, 24] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func appendBigEndian(_ value: UInt32) {
    for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}

/// A small gzip stream that unpacks to any number of zero bytes: 1,032 of them for each byte sent, the most
/// that deflate can do.
///
/// One dynamic block (RFC 1951 section 3.2.7) with three codes: `0` is "258 more of the same", `10` the
/// literal zero, `11` the end. The distance code is `0` too, so the repeats are zero bits, and the long
/// middle of the stream is nothing but zero bytes, which need not be held to be sent.
public struct GzipBomb: Sendable {
  /// The bytes before the zero bytes.
  public let prefix: [UInt8]
  /// The zero bytes in the middle of the stream.
  public let zeroCount: Int
  /// The bytes after them: the end of the block, CRC-32 and length.
  public let suffix: [UInt8]

  /// The length of the stream.
  public var count: Int { prefix.count + zeroCount + suffix.count }

  /// The whole stream. A bomb of 1 GiB is 1 MiB long.
  public var bytes: [UInt8] { prefix + [UInt8](repeating: 0, count: zeroCount) + suffix }

  /// A stream that unpacks to this many zero bytes.
  public init(unpacked count: Int) {
    var writer = BitWriter()
    writer.raw(Gzip.header)
    let middle = writer.zeroBlock(count, isLast: true)
    // One of the zero bytes carries the bits of the unfinished byte before it; a whole zero byte more or
    // less behind it shifts nothing.
    writer.zeroBytes(min(middle, 1))
    prefix = writer.take()
    zeroCount = max(middle - 1, 0)
    writer.endZeroBlock(count)
    writer.raw(Gzip.trailer(crc: Checksum.crc32(ofZeros: count), count: count))
    suffix = writer.bytes
  }

  /// A bomb inside a bomb: two layers of gzip, about half a million to one.
  public static func double(unpacked count: Int) -> [UInt8] {
    let inner = GzipBomb(unpacked: count)
    var writer = BitWriter()
    writer.raw(Gzip.header)
    Gzip.writeStored(inner.prefix, isLast: false, to: &writer)
    let middle = writer.zeroBlock(inner.zeroCount, isLast: false)
    writer.zeroBytes(middle)
    writer.endZeroBlock(inner.zeroCount)
    Gzip.writeStored(inner.suffix, isLast: true, to: &writer)
    let bytes = inner.bytes
    writer.raw(Gzip.trailer(crc: Checksum.crc32(bytes), count: bytes.count))
    return writer.bytes
  }
}

extension BitWriter {
  /// Begins a block that unpacks to `count` zeros; answers how many zero bytes must follow.
  fileprivate mutating func zeroBlock(_ count: Int, isLast: Bool) -> Int {
    number(isLast ? 1 : 0, bits: 1)
    number(2, bits: 2)
    number(29, bits: 5)  // 286 literal and length codes
    number(0, bits: 5)  // one distance code
    number(14, bits: 4)
    // 18 code length codes follow, of the symbols 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1.
    for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] as [UInt32] {
      number(length, bits: 3)
    }
    // Their codes: 18 is `0`, 1 is `10`, 2 is `11`. Lengths: 2 for symbols 0 and 256, 1 for 285, 1 for the distance.
    code("11")
    zeroLengths(138)
    zeroLengths(117)
    code("11")
    zeroLengths(28)
    code("10")
    code("10")
    guard count > 0 else { return 0 }
    code("10")
    let repeats = (count - 1) / 258
    number(0, bits: UInt32(2 * (repeats % 4)))
    return repeats / 4
  }

  private mutating func zeroLengths(_ count: UInt32) {
    code("0")
    number(count - 11, bits: 7)
  }

  fileprivate mutating func endZeroBlock(_ count: Int) {
    if count > 0 {
      for _ in 0..<((count - 1) % 258) { code("10") }
    }
    code("11")
  }
}
