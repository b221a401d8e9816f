import Foundation
import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@Suite("Property lists of strangers")
struct PropertyListTests {
  @Test(
    "Both forms give the same objects",
    arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func objects(_ format: PropertyListSerialization.PropertyListFormat) async throws {
    let shared = ["name": "a", "list": ["x", "x", "x"]] as [String: Any]
    let data = try PropertyListSerialization.data(fromPropertyList: shared, format: format, options: 0)
    try await withResponse([UInt8](data)) { response in
      let read = try #require(response.propertyList as? [String: Any])
      #expect(read["name"] as? String == "a")
      #expect(read["list"] as? [String] == ["x", "x", "x"])
    }
  }

  @Test("A long binary list of one string is read: sharing it costs no more than the references")
  func longList() async throws {
    let bytes = BinaryListMaker.list([
      BinaryListMaker.array(of: Array(repeating: 1, count: 20_000)), [0x51, 0x61],
    ])
    try await withResponse(bytes) { #expect(($0.propertyList as? [String])?.count == 20_000) }
  }

  static let refused: [(name: String, bytes: [UInt8])] = [
    ("20 levels of ten times the next", BinaryListMaker.shared(levels: 20, times: 10)),
    ("a list in itself", BinaryListMaker.list([BinaryListMaker.array(of: [0])])),
    ("1000 levels", BinaryListMaker.shared(levels: 1_000, times: 1)),
    ("a reference to nothing", BinaryListMaker.list([BinaryListMaker.array(of: [7])])),
    ("more references than bytes", BinaryListMaker.list([[0xAF, 0x12, 0x7F, 0xFF, 0xFF, 0xFF]])),
    ("a count of 2^64 - 1", BinaryListMaker.list([[0xAF, 0x13] + Array(repeating: 0xFF, count: 8)])),
    ("a count that is no number", BinaryListMaker.list([[0xAF, 0x51, 0x61]])),
    ("no objects", BinaryListMaker.list([])),
    ("deep XML", Array(("<plist>" + String(repeating: "<array>", count: 100_000)).utf8)),
    ("deep text", Array(repeating: UInt8(ascii: "("), count: 100_000)),
  ]

  @Test(
    "What unfolds, is too deep or points outside is refused at once", .timeLimit(.minutes(1)),
    arguments: refused)
  func refusal(name: String, bytes: [UInt8]) async throws {
    try await withResponse(bytes) { response in
      #expect(response.propertyList == nil)
      #expect(throws: DecodingError.self) {
        try response.decoded(as: [String].self, decoder: PropertyListDecoder())
      }
    }
  }
}
