import Testing

@testable import NetSpool
@testable import TestSupport

/// Mark, label, UTF-8.
struct TextDecodingTests {
  @Test(
    arguments: [
      ([], nil, ""), ([], "utf-16", ""), (Array("na\u{EF}ve \u{1F600}".utf8), nil, "na\u{EF}ve \u{1F600}"),
      (Array("x".utf8), "UTF-8", "x"), ([0xEF, 0xBB, 0xBF, 0x78], nil, "x"),
      ([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "iso-8859-1", "\u{E9}"),  // the mark wins
      ([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF], nil, "\u{FEFF}"),  // only one mark is a mark
      ([0xE9, 0x80, 0x99], "ISO-8859-1", "\u{E9}\u{20AC}\u{2122}"),
      ([0x81, 0x9F, 0xA0, 0xFF], "Windows-1252", "\u{81}\u{178}\u{A0}\u{FF}"), ([0x61], "us-ascii", "a"),
      ([0xFE, 0xFF, 0x00, 0x61], nil, "a"), ([0xFF, 0xFE, 0x61, 0x00], nil, "a"),
      ([0xFE, 0xFF, 0x00, 0x61], "utf-16le", "a"), ([0x00, 0x61], "utf-16be", "a"),
      ([0x61, 0x00], "utf-16", "a"), ([0x3D, 0xD8, 0x00, 0xDE], "utf-16le", "\u{1F600}"),
    ] as [([UInt8], String?, String)])
  func `bytes become text`(_ bytes: [UInt8], _ label: String?, _ text: String) {
    Self.expect(bytes, label, text)
  }

  @Test(
    arguments: [
      ([0x61, 0xFF, 0x62], nil, "a\u{FFFD}b"), ([0xC3], "utf-8", "\u{FFFD}"),
      ([0xED, 0xA0, 0x80], "utf8", "\u{FFFD}\u{FFFD}\u{FFFD}"),  // a surrogate
      ([0xC0, 0xAF], nil, "\u{FFFD}\u{FFFD}"),  // overlong
      ([0x61, 0xE9], "US-ASCII", "a\u{FFFD}"),
      ([0x3D, 0xD8, 0x61, 0x00], "utf-16le", "\u{FFFD}a"),  // half a pair
      ([0x00, 0xDE], "utf-16le", "\u{FFFD}"),
      ([0x61, 0x00, 0x62], "utf-16le", "a\u{FFFD}"),  // half a unit
      ([0x61], "klingon", "a"), ([0xE9], "klingon", "\u{FFFD}"), ([0x61], "", "a"),
    ] as [([UInt8], String?, String)])
  func `what cannot be read is replaced`(_ bytes: [UInt8], _ label: String?, _ text: String) {
    Self.expect(bytes, label, text)
  }

  private static func expect(_ bytes: [UInt8], _ label: String?, _ text: String) {
    let decoded = TextDecoding.decode(bytes[...], label: label)
    #expect(Array(decoded.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test func `any bytes give some text`() {
    var random = SplitMix64(seed: 9)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      for label in ["utf-8", "us-ascii", "latin1", "utf-16", "utf-16be", "x"] {
        #expect(bytes.count < 4 || !TextDecoding.decode(bytes[...], label: label).isEmpty)
      }
    }
  }
}
