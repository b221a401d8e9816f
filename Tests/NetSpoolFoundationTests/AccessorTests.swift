import Foundation
import FoundationXML
import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("What a body can be read as")
struct AccessorTests {
  /// A body, and which accessors give something for it.
  struct Row: Sendable, CustomTestStringConvertible {
    enum Format { case json, propertyList, xml }
    let name: String
    let type: String
    let bytes: [UInt8]
    let formats: Set<Format>
    var testDescription: String { name }

    init(_ name: String, _ type: String, _ bytes: [UInt8], _ formats: Set<Format> = []) {
      (self.name, self.type, self.bytes, self.formats) = (name, type, bytes, formats)
    }

    init(_ name: String, _ type: String, _ text: String, _ formats: Set<Format> = []) {
      self.init(name, type, Array(text.utf8), formats)
    }
  }

  static let rows = [
    Row("empty", "application/json", ""), Row("blank", "application/xml", " \n"),
    Row("NUL", "application/xml", [0]),
    Row("JSON", "application/json", #"{"a": [1, null, "b"]}"#, [.json]),
    Row("JSON under another name", "text/html", "[]", [.json]),
    Row("a JSON value alone", "application/json", "null", [.json]),
    Row("JSON in UTF-16", "application/json", [0xFF, 0xFE, 0x5B, 0, 0x5D, 0], [.json]),
    Row("broken JSON", "application/json", #"{"a": "#),
    Row("two JSON values", "application/json", "{} {}"),
    Row("JSON in Latin-1", "application/json", [0x22, 0xE9, 0x22]),
    Row(
      "XML property list", "application/x-plist",
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict><key>a</key><integer>1</integer></dict></plist>
      """, [.propertyList, .xml]),
    Row(
      "binary property list", "application/x-plist",
      BinaryListMaker.list([[0xA2, 0, 1, 0, 1], [0x51, 0x61]]), [.propertyList]),
    Row("broken XML property list", "application/x-plist", "<plist><dict><key>a</key></plist>"),
    Row("cut binary property list", "application/x-plist", "bplist00"),
    Row("old property list", "application/x-plist", "{ a = 1; }"),
    Row("XML", "application/xml", "<a b='1'><c>d &amp; e</c></a>", [.xml]),
    Row("XML with comments", "application/xml", "<!-- [ --><?x <a?><a/><!-- -->\n", [.xml]),
    Row("broken XML", "application/xml", "<a><b></a>"),
    Row("cut XML", "application/xml", "<a>text"),
    Row("two XML roots", "application/xml", "<a/><b/>"),
    Row("an attribute twice", "application/xml", "<a b='1' b='2'/>"),
    Row("a prefix without namespace", "application/xml", "<x:a/>"),
    Row("an entity nobody declared", "application/xml", "<a>&b;</a>"),
    Row("a comment alone", "application/xml", "<!-- a -->"),
    Row("a comment without end", "application/xml", "<!-- a"),
    Row(
      "HTML", "text/html", "<!DOCTYPE html><html><head><meta charset=utf-8></head><body>a<br></body></html>"),
    Row("XHTML", "text/html", "<!DOCTYPE html><html><body>a<br/></body></html>", [.xml]),
    Row("text", "text/plain", "hello"),
    Row("Latin-1 text", "text/plain; charset=iso-8859-1", [0x63, 0x61, 0x66, 0xE9]),
    Row("bytes", "application/octet-stream", (0...255).map { UInt8($0) }),
  ]

  @Test(arguments: rows)
  func `Each body is what it is and nothing else, and its bytes stay`(_ row: Row) async throws {
    try await withResponse(row.bytes, type: row.type) { response in
      #expect((response.json != nil) == row.formats.contains(.json), "JSON")
      #expect((response.propertyList != nil) == row.formats.contains(.propertyList), "property list")
      #expect((response.xml != nil) == row.formats.contains(.xml), "XML")
      if row.formats.isDisjoint(with: [.json]) {
        #expect(throws: (any Error).self) { try response.decoded(as: [String: Int].self) }
      }
      #expect(response.data == Data(row.bytes))
      #expect([UInt8](response.body) == row.bytes)
    }
  }

  @Test func `A body that went to a stream is empty, and reading it is an error`() async throws {
    try await withOrigin { engine, origin in
      origin.on("/", .text("[1]"))
      // given
      let operation = engine.operation(path: "/").addDownloadStream(MemoryDownloadStream())
      // when
      let response = try await engine.response(for: operation)
      // then
      #expect(response.data.isEmpty)
      #expect(response.json == nil)
      #expect(throws: NetworkError.self) { try response.decoded(as: [Int].self) }
    }
  }

  @Test func `JSON as objects`() async throws {
    try await withResponse(Array(#"{"a": [1, 2.5, true, null, "é"]}"#.utf8)) { response in
      let list = try #require((response.json as? [String: Any])?["a"] as? [Any])
      #expect(list[0] as? Int == 1)
      #expect(list[1] as? Double == 2.5)
      #expect(list[2] as? Bool == true)
      #expect(list[3] is NSNull)
      #expect(list[4] as? String == "é")
    }
  }

  @Test(arguments: [UInt64.random(in: .min ... .max)])
  func `Every prefix of a body, and every body with bytes changed, is read or refused, never a trap`(
    seed: UInt64
  ) async throws {
    var random = SplitMix64(seed: seed)
    var bodies: [[UInt8]] = []
    for row in Self.rows where !row.formats.isEmpty {
      bodies += (0..<row.bytes.count).map { Array(row.bytes.prefix($0)) }
      for _ in 0..<50 {
        var bytes = row.bytes
        for _ in 0...Int.random(in: 0..<3, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        bodies.append(bytes)
      }
    }
    try await withOrigin { engine, origin in
      let shown = bodies
      origin.on("/") { request in .bytes(shown[Int(request.query ?? "") ?? 0]) }
      for index in bodies.indices {
        let response = try await engine.response(for: engine.operation(path: "/?\(index)"))
        _ = (response.json, response.propertyList, response.xml)
        _ = try? response.decoded(as: [String: Int].self)
        _ = try? response.decoded(as: [String: Int].self, decoder: PropertyListDecoder())
        #expect([UInt8](response.body) == bodies[index], "seed \(seed), body \(index)")
      }
    }
  }
}
