import Testing

@testable import NetSpool
@testable import TestSupport

/// Mark, label, UTF-8; what cannot be read is replaced and said so.
struct TextDecodingTests {
  struct Row: CustomTestStringConvertible {
    let bytes: [UInt8]
    let label: String?
    let text: String
    let isInexact: Bool
    var testDescription: String { "\(label ?? "no label"): \(text)" }

    init(_ bytes: [UInt8], _ label: String?, _ text: String, inexact: Bool = false) {
      self.bytes = bytes
      self.label = label
      self.text = text
      isInexact = inexact
    }
  }

  static let rows: [Row] = [
    Row([], nil, ""), Row([], "utf-16", ""),
    Row(Array("na\u{EF}ve \u{1F600}".utf8), nil, "na\u{EF}ve \u{1F600}"), Row(Array("x".utf8), "UTF-8", "x"),
    Row([0xEF, 0xBB, 0xBF, 0x78], nil, "x"),
    Row([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "iso-8859-1", "\u{E9}"),  // the mark wins
    Row([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF], nil, "\u{FEFF}"),  // only one mark is a mark
    Row([0x61, 0xFF, 0x62], nil, "a\u{FFFD}b", inexact: true),
    Row([0xC3], "utf-8", "\u{FFFD}", inexact: true),
    Row([0xED, 0xA0, 0x80], "utf8", "\u{FFFD}\u{FFFD}\u{FFFD}", inexact: true),  // a surrogate
    Row([0xC0, 0xAF], nil, "\u{FFFD}\u{FFFD}", inexact: true),  // overlong
    Row([0xE9, 0x80, 0x99], "ISO-8859-1", "\u{E9}\u{20AC}\u{2122}"),
    Row([0x81, 0x9F, 0xA0, 0xFF], "Windows-1252", "\u{81}\u{178}\u{A0}\u{FF}"),
    Row([0x61], "us-ascii", "a"),
    Row([0x61, 0xE9], "US-ASCII", "a\u{FFFD}", inexact: true),
    Row([0xFE, 0xFF, 0x00, 0x61], nil, "a"),
    Row([0xFF, 0xFE, 0x61, 0x00], nil, "a"),
    Row([0xFE, 0xFF, 0x00, 0x61], "utf-16le", "a"),
    Row([0x00, 0x61], "utf-16be", "a"),
    Row([0x61, 0x00], "utf-16", "a"),
    Row([0x3D, 0xD8, 0x00, 0xDE], "utf-16le", "\u{1F600}"),
    Row([0x3D, 0xD8, 0x61, 0x00], "utf-16le", "\u{FFFD}a", inexact: true),  // half a pair
    Row([0x00, 0xDE], "utf-16le", "\u{FFFD}", inexact: true),
    Row([0x61, 0x00, 0x62], "utf-16le", "a\u{FFFD}", inexact: true),  // half a unit
    Row([0x61], "klingon", "a", inexact: true),
    Row([0xE9], "klingon", "\u{FFFD}", inexact: true),
    Row([0x61], "", "a", inexact: true),
  ]

  @Test(arguments: rows)
  func `bytes become text`(_ row: Row) {
    let decoded = TextDecoding.decode(row.bytes[...], label: row.label)
    #expect(Array(decoded.text.unicodeScalars) == Array(row.text.unicodeScalars))
    #expect(decoded.isInexact == row.isInexact)
  }

  @Test func `any bytes give some text`() {
    var random = SplitMix64(seed: 9)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      for label in ["utf-8", "us-ascii", "latin1", "utf-16", "utf-16be", "x"] {
        #expect(bytes.count < 4 || !TextDecoding.decode(bytes[...], label: label).text.isEmpty)
      }
    }
  }
}
