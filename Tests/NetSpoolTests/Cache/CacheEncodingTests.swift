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
      held.peer = NetworkEngine.Egress.Address(
        internet: try #require(InternetAddress(bytes)), port: 65_535)
      let encoded = held.encode()
      #expect(StoredResponse(decoding: encoded, rules: .standard) == held)
      let isTagged = StoredResponse.hasTag(Array("b".utf8), in: encoded.rawBytes)
      #expect(isTagged)
      for cut in 1...5 {
        #expect(StoredResponse(decoding: Array(encoded.dropLast(cut)), rules: .standard) == nil)
      }
    }
  }

  /// What was stored under other rules is read under those of today.
  @Test func `other rules give other lifetimes`() throws {
    let held = try #require(
      stored(["Cache-Control: no-cache", "Date: \(date())", "Age: 9"], rules: .relaxed))
    #expect(held.facts.lifetime == 60)
    let today = try #require(StoredResponse(decoding: held.encode(), rules: .standard))
    #expect(today.facts.lifetime == 0 && today.age(at: receipt) == 9)
    #expect(today.facts.rules == CacheRules.standard.fingerprint)
    #expect(StoredResponse(decoding: held.encode(), rules: .relaxed) == held)
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

  /// Any byte changed to anything: nil or a value that can be asked everything, never a trap.
  @Test func `hostile bytes are harmless`() throws {
    let bytes = try sample().encode()
    var random = SplitMix64(seed: 3)
    for round in 0..<1500 {
      var damaged = bytes
      for _ in 0...(round % 3) {
        damaged[Int.random(in: 0..<bytes.count, using: &random)] = [
          0, 0xFF, 0x80, 0x0A, UInt8(truncatingIfNeeded: random.next()),
        ].randomElement(using: &random)!
      }
      guard let held = StoredResponse(decoding: damaged, rules: round % 2 == 0 ? .standard : .relaxed) else {
        continue
      }
      for now in [Int64.min, -1, receipt, .max] {
        _ = CacheDecision.make(for: request(policy: .preferCached, lifetime: 5), stored: held, now: now)
        _ = CacheDecision.make(for: request(["Cache-Control: max-age=5, max-stale"]), stored: held, now: now)
        _ = held.mayServeStale(after: .status(503), to: request(), now: now)
        #expect(held.servedHeaders(at: now).contains("age"))
      }
      #expect(CacheableStatus.isStorable(held.status) || held.status == 206)
    }
  }
}
