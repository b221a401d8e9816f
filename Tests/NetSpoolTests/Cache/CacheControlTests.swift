import Testing

@testable import NetSpool
@testable import TestSupport

/// Cache-Control in responses (RFC 9111 section 5.2.2).
struct CacheControlTests {
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
}
