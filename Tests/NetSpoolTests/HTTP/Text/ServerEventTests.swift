import Testing

@testable import NetSpool

@Suite("Lines and events out of bytes")
struct ServerEventTests {
  static let text =
    "\u{FEFF}: a\r\nid:1\rdata: x\ndata:  y\n\nevent: e\nretry: 7\ndata\n\nid: 2\u{0}\n\nretry: 1a\ndata: z\r\n\r\n"

  private func events(_ pieces: [[UInt8]]) throws -> [NetworkStreamedResponse.Event] {
    var splitter = LineSplitter(endsAtCR: true)
    var parser = ServerEventParser()
    var events: [NetworkStreamedResponse.Event] = []
    for piece in pieces {
      splitter.append(piece)
      while let line = try splitter.next() { if let event = try parser.take(line) { events.append(event) } }
    }
    #expect(parser.retry == .milliseconds(7))
    return events
  }

  @Test func `at every split point the same`() throws {
    let bytes = Array(Self.text.utf8)
    let whole = try events([bytes])
    #expect(whole.map(\.data) == ["x\n y", "", "z"] && whole.map(\.name) == ["message", "e", "message"])
    #expect(whole.map(\.id) == ["1", "1", "1"])
    for first in 0...bytes.count {
      for second in stride(from: first, through: bytes.count, by: 3) {
        let pieces = [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
        #expect(try events(pieces) == whole)
      }
    }
  }

  @Test func `one blank before a value goes and what stands on it stays`() throws {
    var parser = ServerEventParser()
    _ = try parser.take("data:  \u{301}a")
    _ = try parser.take("data: \u{301}b")
    #expect(try parser.take("")?.data.utf8.elementsEqual(" \u{301}a\n\u{301}b".utf8) == true)
  }

  @Test func `an event has its limit`() throws {
    var parser = ServerEventParser()
    let line = "data:" + String(repeating: "a", count: LineSplitter.lineBytesMax)
    for _ in 1..<ServerEventParser.eventBytesMax / LineSplitter.lineBytesMax { _ = try parser.take(line) }
    #expect(throws: NetworkError.self) { try parser.take(line) }
  }

  @Test func `a line has its limit`() throws {
    var splitter = LineSplitter(endsAtCR: false)
    splitter.append([UInt8](repeating: 0x61, count: LineSplitter.lineBytesMax))
    #expect(try splitter.next() == nil)
    splitter.append([0x61])
    #expect(throws: NetworkError.self) { try splitter.next() }
  }

  @Test func `what stands behind the last end is a line`() throws {
    var splitter = LineSplitter(endsAtCR: false)
    splitter.append(Array("a\r\n\r\nb\r".utf8))
    #expect(try splitter.next() == "a" && splitter.next() == "")
    #expect(try splitter.next() == nil && splitter.last() == "b" && splitter.last() == nil)
  }
}
