import Foundation
import FoundationXML
import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("XML of strangers", .measured)
struct XMLTests {
  @Test func `The document has the text and the attributes`() async throws {
    let text =
      "<?xml version='1.0'?>\n<list count='2'>\n <item>a &lt; é</item>\n <item><![CDATA[<b>]]></item>\n</list>"
    try await withResponse(Array(text.utf8)) { response in
      let root = try #require(response.xml?.rootElement())
      #expect(root.name == "list")
      #expect(root.attribute(forName: "count")?.stringValue == "2")
      #expect(root.elements(forName: "item").map(\.stringValue) == ["a < é", "<b>"])
    }
  }

  static let encodings = [
    Sample("declared Latin-1", Array("<?xml version='1.0' encoding='iso-8859-1'?><a>".utf8) + latinEnd),
    Sample(
      "Latin-1 by header", type: "application/xml; charset=\"ISO-8859-1\"", Array("<a>".utf8) + latinEnd),
    Sample(
      "UTF-8 by header, against the declaration", type: "text/xml;charset=utf-8",
      "<?xml version=\"1.0\" encoding=\"latin1\"?><a>é</a>"),
    Sample("marked UTF-8", "\u{FEFF}<a>é</a>"),
    Sample(
      "marked UTF-8, against the header", type: "application/xml; charset=iso-8859-1", "\u{FEFF}<a>é</a>"),
    Sample(
      "UTF-16, high byte first",
      "\u{FEFF}<?xml version='1.0' encoding='UTF-16'?><a>é</a>".utf16.flatMap {
        [UInt8($0 >> 8), UInt8($0 & 0xFF)]
      }),
    Sample(
      "UTF-16, low byte first",
      "\u{FEFF}<a>é</a>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
  ]

  static let latinEnd: [UInt8] = [0xE9] + Array("</a>".utf8)

  @Test(arguments: encodings)
  func `The encoding is that of the mark, of the header, of the declaration`(_ sample: Sample) async throws {
    try await withResponse(sample.bytes, type: sample.type) { response in
      #expect(response.xml?.rootElement()?.stringValue == "é")
    }
  }

  static let unread = [
    Sample("Latin-1 that does not say so", Array("<a>".utf8) + latinEnd),
    Sample("EBCDIC by header", type: "application/xml; charset=ebcdic-cp-us", "<a/>"),
    Sample("UTF-7", "<?xml version='1.0' encoding='UTF-7'?><a/>"),
    Sample("UTF-8 that says UTF-16", "<?xml version='1.0' encoding='utf-16'?><a/>"),
    Sample("broken UTF-16", [0xFF, 0xFE, 0x3C, 0, 0x61, 0, 0, 0xD8, 0x2F, 0, 0x3E, 0]),
  ]

  @Test(arguments: unread)
  func `Bytes that are not in their encoding, or in an unknown one, are not XML`(_ sample: Sample)
    async throws
  {
    try await withResponse(sample.bytes, type: sample.type) { #expect($0.xml == nil) }
  }

  /// 10^12 times "lol".
  static var laughs: String {
    let entities = (1...12).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }
    return "<!DOCTYPE l [<!ENTITY l0 \"lol\">\(entities.joined())]><l>&l12;</l>"
  }

  static let bombs = [
    Sample("billion laughs", laughs),
    Sample(
      "quadratic entities",
      "<!DOCTYPE q [<!ENTITY a \"\(String(repeating: "x", count: 100_000))\">]><q>"
        + String(repeating: "&a;", count: 100_000) + "</q>"),
    Sample(
      "quadratic attributes",
      "<!DOCTYPE q [<!ATTLIST a b CDATA \"\(String(repeating: "x", count: 100_000))\">]><q>"
        + String(repeating: "<a/>", count: 100_000) + "</q>"),
    Sample(
      "behind a comment",
      "<?xml version='1.0'?><!-- > --><?a <b?>\n<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
    Sample("behind an identifier", "<!DOCTYPE a SYSTEM \"]>'\" [<!ENTITY b 'c'>]><a>&b;</a>"),
    Sample("40,000 attributes", "<a \(attributes(40_000))/>"),
    Sample("257 attributes", "<a \(attributes(257))/>"),
    Sample(
      "257 namespaces",
      "<a \(attributes(128, prefix: "xmlns:"))><a \(attributes(129, prefix: "xmlns:"))/></a>"),
    Sample("a long text", "<a>" + String(repeating: "x", count: 10_000_001) + "</a>"),
    Sample("100,000 levels", nested(100_000)),
    Sample("201 levels", nested(201)),
  ]

  static func attributes(_ count: Int, prefix: String = "") -> String {
    (0..<count).map { "\(prefix)b\($0) = '='" }.joined(separator: " ")
  }

  static func nested(_ levels: Int) -> String {
    String(repeating: "<a>", count: levels) + "x" + String(repeating: "</a>", count: levels)
  }

  @Test(arguments: bombs)
  func `What unfolds or is too deep is refused at once`(_ sample: Sample) async throws {
    try await withResponse(sample.bytes) { response in
      expect(work { #expect(response.xml == nil) }, within: .seconds(5))
    }
  }

  @Test
  func `256 attributes and 256 namespaces are read, and as many again in the next element`() async throws {
    let element = "<a \(Self.attributes(256))><b \(Self.attributes(256, prefix: "xmlns:"))/></a>"
    try await withResponse(Array("<r>\(element)\(element)</r>".utf8)) { response in
      let elements = try #require(response.xml?.rootElement()?.elements(forName: "a"))
      #expect(elements.map { $0.attributes?.count } == [256, 256])
    }
  }

  static let instructions = [
    Sample("before the root", "<?abcd?><a>x</a>"), Sample("in an element", "<a>x<?b?></a>"),
    Sample("behind it all", "<a>x</a><?c?>"),
    Sample("beside marks that make one character of two", "<a>x<?b?>\u{301}<?c?>\u{200D}</a>"),
    Sample("behind what looks like a comment", "<!DOCTYPE a SYSTEM \"<!--\"><?d?><a>x</a>"),
  ]

  @Test(arguments: instructions)
  func `An instruction need not say more than its name`(_ sample: Sample) async throws {
    try await withResponse(sample.bytes) { response in
      let root = try #require(response.xml?.rootElement())
      #expect(root.children?.first?.stringValue == "x")
    }
  }

  @Test func `200 levels are read to the last`() async throws {
    try await withResponse(Array(Self.nested(200).utf8)) {
      #expect($0.xml?.rootElement()?.stringValue == "x")
    }
  }

  @Test func `No file and no URL is read for an external entity or document type`() async throws {
    try await withOrigin { engine, origin in
      // given
      origin.on("/dtd", .text("<!ENTITY b 'secret'>"))
      let texts = [
        "<!DOCTYPE a [<!ENTITY b SYSTEM \"\(origin.url("/dtd"))\">]><a>&b;</a>",
        "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/hostname\">]><a>&b;</a>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM \"\(origin.url("/dtd"))\"> %p;]><a>&b;</a>",
        "<!DOCTYPE a SYSTEM \"\(origin.url("/dtd"))\"><a>&b;</a>",
      ]
      let harmless = "<!DOCTYPE a SYSTEM \"\(origin.url("/dtd"))\"><a>b</a>"
      origin.on("/a") { request in .text(request.query.flatMap { Int($0) }.map { texts[$0] } ?? harmless) }
      // when
      for index in texts.indices {
        let response = try await engine.response(for: engine.operation(path: "/a?\(index)"))
        // then
        #expect(response.xml == nil)
      }
      let response = try await engine.response(for: engine.operation(path: "/a"))
      #expect(response.xml?.rootElement()?.stringValue == "b")
      #expect(origin.hits("/dtd") == 0)
    }
  }
}
