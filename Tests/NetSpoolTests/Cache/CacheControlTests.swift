import Testing

@testable import NetSpool
@testable import TestSupport

/// Cache-Control in responses (RFC 9111 section 5.2.2).
struct CacheControlTests {
  /// Value, and the lifetime that a private cache reads from it; nil: stale at once.
  static let maxAges: [(String, Int64?)] = [
    ("max-age=3600", 3600), ("MaX-aGe=3600", 3600), ("max-age=0", nil), ("max-age=003600", 3600),
    ("max-age=\"3600\"", 3600), ("max-age=\"36\\00\"", 3600),  // RFC 9111 5.2: both forms
    ("max-age=2147483648", 2_147_483_648), ("max-age=99999999999", 1 << 31),
    ("max-age=9223372036854775807", 1 << 31), ("max-age=9223372036854775808", 1 << 31),
    ("max-age=99999999999999999999999999", 1 << 31),
    ("max-age=-3600", nil), ("max-age=+3600", nil), ("max-age=a3600", nil), ("max-age=3600a", nil),
    ("max-age=3600.5", nil), ("max-age='3600'", nil), ("max-age=", nil), ("max-age", nil),
    ("max-age=\"\"", nil), ("max-age =3600", nil), ("max-age= 3600", nil), ("max-age=36 00", nil),
    ("max-age=\"3600", nil), ("max-age:3600", nil), ("max-age=3600;", nil), ("=3600", nil),
    // Lists (RFC 9110 5.6.1): empty elements, blanks, order.
    (",,max-age=3600,,", 3600), ("public ,\tmax-age=3600 ", 3600), ("max-age=3600,public", 3600),
    // Repeats (RFC 9111 4.2.1).
    ("max-age=3600, max-age=3600", 3600), ("max-age=3600, max-age=1", nil), ("max-age=1, max-age=3600", nil),
    ("max-age=3600, max-age=x", nil), ("max-age=x, max-age=3600", nil),
    ("max-age=1, max-age=2, max-age=1", nil),
    // Extensions (RFC 9111 5.2.3) and what quoted strings hide.
    ("foobar, max-age=3600", 3600), ("foo=\"a, max-age=1\", max-age=3600", 3600),
    ("ext=\"max-age=3600\", max-age=1", 1), ("max-age=1, ext=\"max-age=3600\"", 1),
    ("ext=\"a\\\", max-age=9\", max-age=3600", 3600), ("ext=\"max-age=3600", nil),
    ("ext=\"a, max-age=3600", nil),
    ("{}, max-age=3600", 3600), ("s-maxage=3600", nil), ("s-maxage=3600, max-age=1", 1),
    ("max-age=3600, no-cache", nil), ("no-cache=\"x\", max-age=3600", 3600),
    ("no-cache=x, max-age=3600", 3600),
    ("no-cache=\"\", max-age=3600", nil), ("no-cache=\"a b\", max-age=3600", nil),
    ("No-CaChE, max-age=1", nil),
    ("no-cache=, max-age=3600", nil), ("no-cache x, max-age=3600", nil),
  ]

  @Test(arguments: maxAges)
  func `gives this lifetime`(_ value: String, lifetime: Int64?) throws {
    let held = try #require(stored(["Cache-Control: \(value)", "Date: \(date())"]))
    #expect(held.facts.lifetime == lifetime ?? 0)
    #expect(decision(held, after: 0) == (lifetime == nil ? .fetch : .serve))
  }

  /// Any cut of a list into lines means the same (RFC 9110 section 5.3).
  @Test func `lines are one list`() {
    let directives = ["max-age=60", "must-revalidate", "ext=\"a,b\"", "stale-if-error=7", "private=\"x\""]
    let whole = ResponseDirectives(fields("Cache-Control: \(directives.joined(separator: ","))"))
    for cuts in 0..<(1 << (directives.count - 1)) {
      var lines = ["Cache-Control: \(directives[0])"]
      for (index, directive) in directives.dropFirst().enumerated() {
        if cuts >> index & 1 == 1 {
          lines.append("cache-control: \(directive)")
        } else {
          lines[lines.count - 1] += ", \(directive)"
        }
      }
      #expect(ResponseDirectives(fields(lines)) == whole, "\(lines)")
    }
  }

  /// What restricts counts whatever follows it; what permits must be well formed.
  static let restrictions: [(String, ResponseDirectives.Flags)] = [
    ("no-store", .noStore), ("nO-StOrE", .noStore), ("no-store=1", .noStore),
    ("no-store; max-age=1", .noStore),
    ("no-store=\"", [.noStore, .hasOpenQuote]), ("ext=\"x, no-store", [.noStore, .hasOpenQuote]),
    ("ext=\"x, no-store\"", []), ("no-storex", []), ("x-no-store", []), ("@ no-store", []),
    ("@, no-store", .noStore), ("private", .isPrivate), ("private=x y", .isPrivate),
    ("public", .isPublic), ("public=1", .isPublic), ("public 1", []), ("immutable", .immutable),
    ("must-revalidate x", .mustRevalidate), ("proxy-revalidate", .proxyRevalidate),
    ("must-understand", .mustUnderstand), ("must-understand x", []), ("", []), (",", []), ("\t", []),
  ]

  @Test(arguments: restrictions)
  func `is read cautiously`(_ value: String, flags: ResponseDirectives.Flags) {
    #expect(ResponseDirectives(fields("Cache-Control: \(value)")).flags == flags)
  }

  /// RFC 9111 sections 5.2.2.4 and 5.2.2.7.
  @Test func `named fields are read`() {
    let directives = ResponseDirectives(
      fields("Cache-Control: no-cache=\"A , b,\", private=\"C\", no-cache=d"))
    #expect(directives.noCacheFields == ["a", "b", "d"])
    #expect(directives.privateFields == ["c"])
    #expect(directives.flags == [])
  }

  /// Any bytes whatever: no trap, and what is read does not depend on what comes before in the array.
  @Test func `noise is harmless`() {
    var random = SplitMix64(seed: 11)
    let alphabet = Array("max-age=\"\\, 019;nostrc\t".utf8)
    for _ in 0..<1000 {
      let noise = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        alphabet.randomElement(using: &random)!
      }
      var reader = DirectiveReader(noise[...])
      var shifted = DirectiveReader(([0x78, 0x2C] + noise)[2...])
      var steps = 0
      while let directive = reader.next() {
        let other = shifted.next()
        #expect(other?.name == directive.name && other?.argument == directive.argument)
        steps += 1
      }
      #expect(steps <= noise.count)
    }
  }
}
