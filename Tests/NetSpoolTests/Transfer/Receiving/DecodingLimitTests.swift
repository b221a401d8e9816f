import Testing

@testable import NetSpool

struct DecodingLimitTests {
  /// Decodes and counts; the body in pieces as a socket gives them.
  private static func count(
    _ body: [UInt8], _ coding: String = "gzip", limits: DecodingLimits = DecodingLimits(),
    pieces: Int = 16_384
  ) throws -> (emitted: Int, failure: String?) {
    let decoder = try #require(try ContentDecoder.make(for: ["Content-Encoding": coding], limits: limits))
    var emitted = 0
    let failure = outcome {
      for start in stride(from: 0, to: body.count, by: pieces) {
        let end = min(start + pieces, body.count)
        try unsafe decoder.decode(body.span.bytes.extracting(start..<end)) {
          emitted += $0.byteCount
          return true
        }
      }
      try decoder.finish()
    }
    return (emitted, failure)
  }

  private static let zeros = [UInt8](repeating: 0, count: 4 << 20)

  @Test(arguments: ["gzip", "zlib", "raw"], [1, 100, 16_384, 1 << 20])
  func `a bomb is stopped at the ratio`(kind: String, pieces: Int) throws {
    // Given 4 MiB of zeros, a thousand to one
    let pack = ["gzip": Compressed.gzip, "zlib": Compressed.zlib][kind] ?? Compressed.raw
    let body = try pack(Self.zeros)
    #expect(body.count * 500 < Self.zeros.count)
    // When it is decoded
    let (emitted, failure) = try Self.count(body, kind == "gzip" ? "gzip" : "deflate", pieces: pieces)
    // Then it stops at the mark where the ratio begins to count
    #expect(failure == "decompressionLimit(ratio)")
    #expect(emitted <= 1 << 20)
  }

  @Test func `a bomb of many members is stopped too`() throws {
    let member = try Compressed.gzip([UInt8](repeating: 0, count: 200_000))
    let body = Array(repeatElement(member, count: 20).joined())
    let (emitted, failure) = try Self.count(body)
    #expect(failure == "decompressionLimit(ratio)")
    #expect(emitted <= 1 << 20)
  }

  @Test func `a short body may unfold as it likes`() throws {
    let body = try Compressed.gzip([UInt8](repeating: 0, count: 1 << 20))
    let (emitted, failure) = try Self.count(body)
    #expect(failure == nil)
    #expect(emitted == 1 << 20)
  }

  @Test(arguments: [(1_999_999, true), (2_000_000, false), (2_000_001, false)])
  func `the absolute limit is exact`(limit: Int64, isRefused: Bool) throws {
    var limits = DecodingLimits()
    limits.decodedBytesMax = limit
    let (emitted, failure) = try Self.count(
      try Compressed.gzip(SinkFixture.pattern(2_000_000)), limits: limits)
    #expect(failure == (isRefused ? "decompressionLimit(absolute)" : nil))
    #expect(emitted <= Int(limit))
  }

  @Test(arguments: [(Int64(8), true), (100, false)])
  func `the ratio is the caller's`(ratio: Int64, isRefused: Bool) throws {
    var limits = DecodingLimits()
    limits.ratioMax = ratio
    // A hundred equal pieces within zlib's window
    let piece = SinkFixture.pattern(20_000)
    let body = try Compressed.gzip(Array(repeatElement(piece, count: 100).joined()))
    let (_, failure) = try Self.count(body, limits: limits)
    #expect(failure == (isRefused ? "decompressionLimit(ratio)" : nil))
  }

  @Test func `what emit throws is passed on`() throws {
    struct Stop: Error {}
    let decoder = try #require(try ContentDecoder.make(for: ["Content-Encoding": "gzip"]))
    let body = try Compressed.gzip([1, 2, 3])
    #expect(throws: Stop.self) {
      try unsafe decoder.decode(body.span.bytes) { (_: RawSpan) throws in throw Stop() }
    }
  }
}
