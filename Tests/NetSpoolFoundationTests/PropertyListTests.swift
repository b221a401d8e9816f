import Foundation
import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@Suite("Property lists of strangers")
struct PropertyListTests {
  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func `Both forms give the same objects`(_ format: PropertyListSerialization.PropertyListFormat) async throws
  {
    let shared = ["name": "a", "list": ["x", "x", "x"]] as [String: Any]
    let data = try PropertyListSerialization.data(fromPropertyList: shared, format: format, options: 0)
    try await withResponse([UInt8](data)) { response in
      let read = try #require(response.propertyList as? [String: Any])
      #expect(read["name"] as? String == "a")
      #expect(read["list"] as? [String] == ["x", "x", "x"])
    }
  }

  @Test func `A long binary list of one string is read: sharing it costs no more than the references`()
    async throws
  {
    let bytes = BinaryListMaker.list([
      BinaryListMaker.array(of: Array(repeating: 1, count: 20_000)), [0x51, 0x61],
    ])
    try await withResponse(bytes) { #expect(($0.propertyList as? [String])?.count == 20_000) }
  }

  static let refused: [Sample] = [
    Sample("20 levels of ten times the next", BinaryListMaker.shared(levels: 20, times: 10)),
    Sample("a list in itself", BinaryListMaker.list([BinaryListMaker.array(of: [0])])),
    Sample("201 levels", BinaryListMaker.shared(levels: 201, times: 1)),
    Sample("1000 levels", BinaryListMaker.shared(levels: 1_000, times: 1)),
    Sample("201 levels, the lower half met near the top first", BinaryListMaker.joined(levels: 201)),
    Sample("a reference to nothing", BinaryListMaker.list([BinaryListMaker.array(of: [7])])),
    Sample("more references than bytes", BinaryListMaker.list([[0xAF, 0x12, 0x7F, 0xFF, 0xFF, 0xFF]])),
    Sample("a count of 2^64 - 1", BinaryListMaker.list([[0xAF, 0x13] + Array(repeating: 0xFF, count: 8)])),
    Sample("a count that is no number", BinaryListMaker.list([[0xAF, 0x51, 0x61]])),
    Sample("no objects", BinaryListMaker.list([])),
    Sample(
      "257 objects, and references of a byte",
      BinaryListMaker.list(Array(repeating: [0x09], count: 257), referenceBytes: 1)),
    Sample(
      "300 objects in one byte", BinaryListMaker.list([[UInt8]](repeating: [], count: 299) + [[0x09]])),
    Sample("deep XML", "<plist>" + String(repeating: "<array>", count: 100_000)),
    Sample("deep XML that ends", nested(100_000)), Sample("201 levels of XML", nested(200)),
    Sample("XML with entities", "<!DOCTYPE plist [<!ENTITY a 'b'>]><plist><string>&a;</string></plist>"),
    Sample("XML that is no list", "<a/>"),
    Sample("deep text", Array(repeating: UInt8(ascii: "("), count: 100_000)),
  ]

  static func nested(_ levels: Int) -> String {
    "<plist>" + String(repeating: "<array>", count: levels) + String(repeating: "</array>", count: levels)
      + "</plist>"
  }

  static let deepest = [
    Sample("binary", BinaryListMaker.shared(levels: 200, times: 1)), Sample("XML", nested(199)),
  ]

  @Test(arguments: deepest)
  func `200 levels are read to the last, by both readers`(_ sample: Sample) async throws {
    try await withResponse(sample.bytes) { response in
      var levels = 0
      var rest = response.propertyList as? [Any]
      while let list = rest {
        levels += 1
        rest = list.first as? [Any]
      }
      let read = try response.decoded(as: Nest.self, decoder: PropertyListDecoder()).levels
      #expect(levels >= 199)
      #expect(read == levels)
    }
  }

  @Test func `A list that is held twice is read where neither place makes it too deep`() async throws {
    try await withResponse(BinaryListMaker.joined(levels: 200)) {
      #expect(($0.propertyList as? [Any])?.count == 2)
    }
  }

  /// Lists in lists.
  struct Nest: Decodable {
    var levels = 1

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      if !list.isAtEnd { levels += try list.decode(Nest.self).levels }
    }
  }

  @Test(arguments: refused)
  func `What unfolds, is too deep or points outside is refused at once`(_ sample: Sample) async throws {
    try await withResponse(sample.bytes) { response in
      #expect(response.propertyList == nil)
      #expect(throws: NetworkError.self) {
        try response.decoded(as: [String].self, decoder: PropertyListDecoder())
      }
    }
  }
}
