import Testing

@testable import NetSpool
@testable import TestSupport

/// The stored form, and what hostile bytes make of it.
struct CacheEncodingTests {
  private func sample() throws -> StoredResponse {
    var held = try #require(
      stored(
        [
          "Vary: Accept", "Cache-Control: max-age=60, stale-if-error=9, immutable", "ETag: \"a\"",
          "X: \u{FC}",
        ],
        request: ["Accept: a/b"], delay: 5))
    held.bodyBytes = 12_345_678_901
    held.hidden = fields("X-Hidden: 1")
    held.tags = ["ä", "b"]
    held.parts = StoredParts(total: 100, ranges: [0..<10, 20..<40])
    return held
  }

  @Test func `reads back`() throws {
    let held = try sample()
    #expect(StoredResponse(decoding: held.encode(), rules: .standard) == held)
    #expect(PrimaryEntry(decoding: held.encode().rawBytes, rules: .standard) == .response(held))
    let empty = StoredResponse(
      version: .http3, status: 599, headers: Headers(), requestedAt: .min, receivedAt: .max,
      facts: ResponseFacts())
    #expect(StoredResponse(decoding: empty.encode(), rules: .standard)?.status == 599)
  }

  @Test func `the address that answered is read back, and cuts of it are refused`() throws {
    var held = try sample()
    for bytes: [UInt8] in [[127, 0, 0, 1], [UInt8](repeating: 7, count: 16)] {
      held.peer = NetworkEngine.Egress.Address(internet: try #require(InternetAddress(bytes)), port: 65_535)
      let encoded = held.encode()
      #expect(StoredResponse(decoding: encoded, rules: .standard) == held)
      let isTagged = StoredResponse.hasTag(Array("b".utf8), in: encoded.rawBytes)
      #expect(isTagged)
      for cut in 1...5 {
        #expect(StoredResponse(decoding: Array(encoded.dropLast(cut)), rules: .standard) == nil)
      }
    }
  }

  @Test func `each number of the rules counts`() {
    var variants = [CacheRules.standard, .relaxed, sharedRules, CacheHeuristicsTests.none]
    let numbers: [WritableKeyPath<CacheRules, Int64>] = [
      \.heuristics.validatedImageSeconds, \.heuristics.imageSeconds, \.heuristics.entityTagSeconds,
      \.heuristics.lastModifiedPercent, \.heuristics.lastModifiedSecondsMax, \.noCacheSeconds,
    ]
    for number in numbers {
      variants.append(.standard)
      variants[variants.count - 1][keyPath: number] += 1
    }
    #expect(Set(variants.map(\.fingerprint)).count == variants.count)
    #expect(CacheRules.standard.fingerprint == CacheRules().fingerprint)
  }

  @Test func `every cut is refused`() throws {
    let bytes = try sample().encode()
    for end in 0..<bytes.count {
      #expect(StoredResponse(decoding: Array(bytes[..<end]), rules: .standard) == nil)
    }
    #expect(StoredResponse(decoding: bytes + [0], rules: .standard) == nil)
  }
}
