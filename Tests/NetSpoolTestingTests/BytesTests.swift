import Testing

@testable import NetSpoolTesting

@Suite struct BytesTests {
  @Test func `makes the same picture for the same number`() {
    #expect(Thumbnail.png(7) == Thumbnail.png(7))
    #expect(Set((0..<500).map { FNV1a.hash(Thumbnail.png($0)) }).count == 500)
  }

  /// zlib unpacked streams with these hashes, and found sizes and checksums right.
  @Test func `makes pictures and streams that are whole`() {
    #expect(Thumbnail.png(7).count == 3_172)
    let streams = [
      Thumbnail.png(7), GzipBomb(unpacked: 200 << 20).bytes, GzipBomb.double(unpacked: 500 << 20),
      Gzip.stored(BodyPattern.bytes(100_000)),
    ]
    let known: [UInt64] = [0xce2853d517494041, 0x1f14c040d9c682bd, 0x47fe5740d129c362, 0x928c89095131c14d]
    #expect(streams.map { FNV1a.hash($0) } == known)
  }

  @Test func `a buffer that is never empty keeps little more than what is unread`() {
    var buffer = InputBuffer()
    buffer.append(BodyPattern.bytes(65_536)[...])
    var (end, most) = (65_536, 0)
    for _ in 0..<200 {
      buffer.append(BodyPattern.bytes(32_768, from: end)[...])
      end += 32_768
      buffer.consume(32_768)
      most = max(most, buffer.storage.count)
    }
    #expect(most < 1 << 18 && buffer.count == 65_536)
    #expect(BodyPattern.matches(buffer.unread, at: end - buffer.count))
  }

  @Test func `hashes as FNV does`() {
    #expect(FNV1a.hash([]) == 0xcbf2_9ce4_8422_2325)
    #expect(FNV1a.hash("a".utf8) == 0xaf63_dc4c_8601_ec8c)
    #expect(FNV1a.hash("foobar".utf8) == 0x8594_4171_f739_67e8)
  }

  @Test func `generates the same bytes from any offset`() {
    let whole = BodyPattern.bytes(200_000)
    #expect(Array(whole[65_500..<131_100]) == BodyPattern.bytes(65_600, from: 65_500))
    #expect(BodyPattern.matches(whole[70_000...], at: 70_000))
    #expect(!BodyPattern.matches(whole[70_000...], at: 70_000 - 65_536))
  }
}
