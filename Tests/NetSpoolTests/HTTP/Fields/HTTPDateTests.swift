import Testing

@testable import NetSpool
@testable import TestSupport

/// RFC 9110 section 5.6.7.
struct HTTPDateTests {
  static let dates: [(String, Int64)] = [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
    ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800), ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
    ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),  // a leap second
    ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
    ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),  // it was a Sunday; the date counts
    ("Wed Nov 16 08:49:37 1994", 784_975_777),
    ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
    ("Sunday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
  ]

  @Test(arguments: dates)
  func `all three forms are read`(_ text: String, seconds: Int64) {
    #expect(HTTPDate.parse(text) == seconds)
    #expect(HTTPDate.parse(bytes(text)) == seconds)
  }

  @Test(arguments: [
    "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 +00", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
    "Sun, 06  Nov 1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
    "Wed, 29 Feb 2023 00:00:00 GMT", "Mon, 29 Feb 1900 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
    "Sun, 06 Nov +994 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37",
    "Sun Nov  6 08:49:37 94", "Sun Nov 06x08:49:37 1994", ",", ", 06-Nov-94 08:49:37 GMT",
    "2024-02-29T00:00:00Z",
  ])
  func `anything else is no date`(_ text: String) { #expect(HTTPDate.parse(text) == nil) }

  @Test func `two-digit years more than fifty years ahead are past`() throws {
    let in2026 = try #require(HTTPDate.parse("Thu, 01 Jan 2026 00:00:00 GMT"))
    func year(_ short: String) -> String? {
      HTTPDate.parse("Monday, 02-Mar-\(short) 00:00:00 GMT", now: in2026)
        .map { String(HTTPDate.format($0).dropFirst(12).prefix(4)) }
    }
    #expect(year("26") == "2026" && year("76") == "2076" && year("77") == "1977" && year("99") == "1999")
  }

  @Test func `what is written reads back`() {
    #expect(HTTPDate.format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.format(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
    var random = SplitMix64(seed: 5)
    for _ in 0..<5000 {
      let seconds = Int64.random(in: -62_167_219_200...253_402_300_799, using: &random)
      #expect(HTTPDate.parse(HTTPDate.format(seconds)) == seconds)
    }
  }

  /// Every day of four centuries, one after the other: a whole cycle of the calendar.
  @Test func `days follow each other`() {
    var seconds: Int64 = -11_676_096_000  // 1600-01-01, a Saturday
    let names = ["Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri"]
    for day in 0..<146_097 where day % 13 == 0 || day > 146_000 {
      let text = HTTPDate.format(seconds + Int64(day) * 86_400)
      guard text.hasPrefix(names[day % 7]), HTTPDate.parse(text) == seconds + Int64(day) * 86_400 else {
        Issue.record("day \(day): \(text)")
        return
      }
    }
    seconds += 146_097 * 86_400
    #expect(HTTPDate.format(seconds) == "Sat, 01 Jan 2000 00:00:00 GMT")
  }
}
