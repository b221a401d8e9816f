import Foundation
import FoundationXML
import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("What a body can be read as")
struct AccessorTests {
  static let rows = [
    Sample("empty", type: "application/json", ""), Sample("blank", " \n"), Sample("NUL", [0]),
    Sample("JSON", type: "application/json", #"{"a": [1, null, "b"]}"#, [.json]),
    Sample("JSON under another name", type: "text/html", "[]", [.json]),
    Sample("a JSON value alone", type: "application/json", "null", [.json]),
    Sample("JSON in UTF-16", type: "application/json", [0xFF, 0xFE, 0x5B, 0, 0x5D, 0], [.json]),
    Sample("broken JSON", type: "application/json", #"{"a": "#),
    Sample("two JSON values", type: "application/json", "{} {}"),
    Sample("JSON in Latin-1", type: "application/json", [0x22, 0xE9, 0x22]),
    Sample(
      "XML property list", type: "application/x-plist",
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict><key>a</key><integer>1</integer></dict></plist>
      """, [.propertyList, .xml]),
    Sample(
      "binary property list", type: "application/x-plist",
      BinaryListMaker.list([[0xA2, 0, 1, 0, 1], [0x51, 0x61]]), [.propertyList]),
    Sample("broken XML property list", type: "application/x-plist", "<plist><dict><key>a</key></plist>"),
    Sample("cut binary property list", type: "application/x-plist", "bplist00"),
    Sample("old property list", type: "application/x-plist", "{ a = 1; }"),
    Sample("XML", "<a b='1'><c>d &amp; e</c></a>", [.xml]),
    Sample("XML with comments", "<!-- [ --><?x <a?><a/><!-- -->\n", [.xml]),
    Sample("broken XML", "<a><b></a>"),
    Sample("cut XML", "<a>text"),
    Sample("two XML roots", "<a/><b/>"),
    Sample("an attribute twice", "<a b='1' b='2'/>"),
    Sample("a prefix without namespace", "<x:a/>"),
    Sample("an entity nobody declared", "<a>&b;</a>"),
    Sample("a comment alone", "<!-- a -->"),
    Sample("a comment without end", "<!-- a"),
    Sample(
      "HTML", type: "text/html",
      "<!DOCTYPE html><html><head><meta charset=utf-8></head><body>a<br></body></html>"),
    Sample("XHTML", type: "text/html", "<!DOCTYPE html><html><body>a<br/></body></html>", [.xml]),
    Sample("text", type: "text/plain", "hello"),
    Sample("Latin-1 text", type: "text/plain; charset=iso-8859-1", [0x63, 0x61, 0x66, 0xE9]),
    Sample("bytes", type: "application/octet-stream", (0...255).map { UInt8($0) }),
  ]

  @Test(arguments: rows)
  func `Each body is what it is and nothing else, and its bytes stay`(_ row: Sample) async throws {
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
