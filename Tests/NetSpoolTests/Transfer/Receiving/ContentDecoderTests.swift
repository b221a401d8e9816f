import Testing

@testable import NetSpool

struct ContentDecoderTests {
  private static let text = Array(
    "A hold queue keeps what cannot be printed yet. A hold queue keeps it.".utf8)

  private static func headers(_ codings: [String]) -> Headers {
    var fields = Headers()
    for coding in codings { fields.append(name: "Content-Encoding", value: coding) }
    return fields
  }

  /// Decodes a body that arrives in pieces, to its end.
  private static func decode(
    _ body: [UInt8], _ coding: String, cuts: [Int] = [], limits: DecodingLimits = DecodingLimits()
  ) throws -> [UInt8] {
    let decoder = try #require(try ContentDecoder.make(for: headers([coding]), limits: limits))
    var decoded: [UInt8] = []
    var start = 0
    for end in cuts + [body.count] {
      try unsafe decoder.decode(body.span.bytes.extracting(start..<end)) { piece in
        #expect(piece.byteCount <= 65_536)
        decoded.append(piece)
        return true
      }
      start = end
    }
    try decoder.finish()
    return decoded
  }

  /// The same body in every dress, by the name a server gives it.
  private static func dresses(_ bytes: [UInt8]) throws -> [(coding: String, body: [UInt8])] {
    [
      ("gzip", try Compressed.gzip(bytes)), ("X-GZip", try Compressed.gzip(bytes)),
      ("deflate", try Compressed.zlib(bytes)), ("deflate", try Compressed.raw(bytes)),
    ]
  }

  @Test func `layers are undone in the opposite order, whatever the pieces`() throws {
    let text = Self.text
    let bodies = [
      ("gzip, gzip", try Compressed.gzip(Compressed.gzip(text))),
      ("deflate, gzip", try Compressed.gzip(Compressed.zlib(text))),
      ("gzip, identity, deflate, x-gzip", try Compressed.gzip(Compressed.zlib(Compressed.gzip(text)))),
    ]
    for (coding, body) in bodies {
      #expect(try Self.decode(body, coding) == text)
      #expect(try Self.decode(body, coding, cuts: Array(0...body.count)) == text, "byte by byte")
      let cut = outcome { _ = try Self.decode(Array(body.dropLast()), coding) }
      #expect(cut == "decodeFailed(truncated)")
    }
    // The outer layer is whole, the inner is not.
    let half = try Compressed.gzip(Array(Compressed.gzip(text).dropLast()))
    #expect(outcome { _ = try Self.decode(half, "gzip, gzip") } == "decodeFailed(truncated)")
  }

  @Test func `a reader that takes one piece at a time gets all of them`() throws {
    let body = SinkFixture.pattern(300_000) + [UInt8](repeating: 0, count: 300_000)
    let others = [
      ("gzip, gzip", try Compressed.gzip(Compressed.gzip(body)), body),
      ("deflate, gzip, gzip", try Compressed.gzip(Compressed.gzip(Compressed.raw(body))), body),
      ("gzip", try Compressed.gzip(body) + Compressed.gzip(body), body + body),
    ]
    for (coding, packed, wanted) in try Self.dresses(body).map({ ($0, $1, body) }) + others {
      for count in [1_000, 16_384, packed.count] {
        let decoder = try #require(try ContentDecoder.make(for: Self.headers([coding])))
        var decoded: [UInt8] = []
        func decode(_ bytes: ArraySlice<UInt8>) throws {
          var pieces = 0
          try decoder.decode(Array(bytes).rawBytes) { piece in
            decoded.append(piece)
            pieces += 1
            return false
          }
          #expect(pieces <= 1)
        }
        // Some come while it waits
        for start in stride(from: 0, to: packed.count, by: count) {
          try decode(packed[start..<min(start + count, packed.count)])
        }
        #expect(decoder.isHeldUp)
        #expect(outcome { try decoder.finish() } == "decodeFailed(truncated)")
        while decoder.isHeldUp { try decode([]) }
        try decoder.finish()
        #expect(decoded == wanted)
      }
    }
  }

  @Test func `limits count for all layers together`() throws {
    var limits = DecodingLimits()
    limits.ratioFreeBytes = 0
    limits.ratioMax = 2_000
    let zeros = [UInt8](repeating: 0, count: 1_000_000)
    let once = try Compressed.gzip(zeros)
    let twice = try Compressed.gzip(once)
    #expect(try Self.decode(once, "gzip", limits: limits).count == zeros.count)
    #expect(try Self.decode(twice, "gzip", limits: limits) == once)
    let said = outcome { _ = try Self.decode(twice, "gzip, gzip", limits: limits) }
    #expect(said == "decompressionLimit(ratio)")
  }

  @Test(arguments: [0, 1, 100, 65_535, 65_536, 65_537, 300_000])
  func `what was packed is unpacked`(count: Int) throws {
    let bytes = SinkFixture.pattern(count)
    for (coding, body) in try Self.dresses(bytes) { #expect(try Self.decode(body, coding) == bytes) }
  }

  @Test func `every split gives the same`() throws {
    for (coding, body) in try Self.dresses(Self.text) {
      for cut in 0...body.count {
        let decoded = try Self.decode(body, coding, cuts: [cut])
        if decoded != Self.text { Issue.record("\(coding) cut at \(cut)") }
      }
      #expect(try Self.decode(body, coding, cuts: Array(0...body.count)) == Self.text, "byte by byte")
    }
  }

  @Test func `every body cut short is found`() throws {
    for (coding, body) in try Self.dresses(Self.text) {
      for count in 1..<body.count {
        let found = outcome { _ = try Self.decode(Array(body.prefix(count)), coding) }
        if found != "decodeFailed(truncated)" { Issue.record("\(coding) \(count): \(found ?? "accepted")") }
      }
    }
  }

  @Test(arguments: ["gzip", "deflate"])
  func `no body at all is whole`(coding: String) throws { #expect(try Self.decode([], coding) == []) }

  @Test func `every damaged byte of a trailer is found`() throws {
    let body = try Compressed.gzip(Self.text)
    for index in (body.count - 8)..<body.count {
      var damaged = body
      damaged[index] ^= 1
      #expect(outcome { _ = try Self.decode(damaged, "gzip") } == "decodeFailed(checksum)")
    }
    var damaged = try Compressed.zlib(Self.text)
    damaged[damaged.count - 1] ^= 1
    #expect(outcome { _ = try Self.decode(damaged, "deflate") } == "decodeFailed(checksum)")
  }

  @Test func `no damage anywhere gives another body`() throws {
    for (coding, body) in try Self.dresses(Self.text) where body != (try Compressed.raw(Self.text)) {
      for bit in 0..<(body.count * 8) {
        var damaged = body
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        // gzip's name, time and system bytes mean nothing to the body
        let decoded = try? Self.decode(damaged, coding)
        if let decoded, decoded != Self.text { Issue.record("\(coding), bit \(bit) flipped, was accepted") }
      }
    }
  }

  @Test func `several members are one body`() throws {
    let first = try Compressed.gzip(Self.text)
    let empty = try Compressed.gzip([])
    let body = first + empty + first
    for cut in 0...body.count {
      let decoded = try Self.decode(body, "gzip", cuts: [cut])
      if decoded != Self.text + Self.text { Issue.record("cut at \(cut)") }
    }
    #expect(outcome { _ = try Self.decode(Array(body.dropLast()), "gzip") } == "decodeFailed(truncated)")
  }

  @Test(arguments: [
    [0], [0x1F], [0x58], [0x1F, 0x58], Array("trailing".utf8), [UInt8](repeating: 0, count: 512),
  ])
  func `bytes behind the end are refused`(trailing: [UInt8]) throws {
    for (coding, body) in try Self.dresses(Self.text) {
      let expected = "decodeFailed(trailingData)"
      #expect(outcome { _ = try Self.decode(body + trailing, coding) } == expected)
      #expect(outcome { _ = try Self.decode(body + trailing, coding, cuts: [body.count]) } == expected)
    }
  }

  @Test(arguments: [Array("<html><body>not packed</body></html>".utf8), [UInt8](repeating: 0xFF, count: 100)])
  func `a body that is not packed is refused`(body: [UInt8]) {
    for coding in ["gzip", "deflate"] {
      #expect(outcome { _ = try Self.decode(body, coding) } == "decodeFailed(notEncoded)")
    }
  }

  @Test(arguments: [
    ([], "none"), (["identity"], "none"), (["identity, Identity"], "none"), ([" , "], "none"),
    (["gzip"], "one"), (["identity, gzip"], "one"), (["GZIP ,"], "one"), (["x-gzip"], "one"),
    (["deflate"], "one"), (["br"], "none"), (["gzipp"], "none"), (["gzip;q=1"], "none"), (["g zip"], "none"),
    (["gzip, \u{300}\u{316}"], "none"), (["gzip", "rot13"], "none"), (["rot13, gzip"], "none"),
    (["aws-chunked"], "none"), (["aws-chunked, gzip"], "one"), (["gzip", "identity"], "one"),
    (["gzip, gzip"], "one"), (["gzip", "deflate"], "one"), (["gzip,deflate,gzip"], "one"),
    (["gzip,gzip,gzip,gzip"], "decodeFailed(tooManyLayers)"),
  ])
  func `codings of a head`(fields: [String], expected: String) {
    var found = ""
    let reason = outcome {
      found = try ContentDecoder.make(for: Self.headers(fields)) == nil ? "none" : "one"
    }
    #expect(reason ?? found == expected)
  }
}
