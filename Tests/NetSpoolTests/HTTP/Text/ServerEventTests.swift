import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Lines and events out of bytes", .measured)
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

  @Test func `a blank before a value goes and what stands on it stays`() throws {
    var parser = ServerEventParser()
    _ = try parser.take("data:  \u{301}a")
    _ = try parser.take("data: \u{301}b")
    #expect(try parser.take("")?.data.utf8.elementsEqual(" \u{301}a\n\u{301}b".utf8) == true)
  }

  @Test(arguments: ["\u{0}", "\u{1}", "\u{1B}", "\u{7F}"])
  func `an id that no header field could carry is none`(_ control: String) throws {
    var parser = ServerEventParser()
    for line in ["id: 1", "data: a", "", "id: 2\(control)", "data: b"] { _ = try parser.take(line) }
    #expect(try parser.take("")?.id == "1" && parser.lastID == "1")
  }

  @Test func `a line has its limit`() throws {
    var splitter = LineSplitter(endsAtCR: false)
    let longest = [UInt8](repeating: 0x61, count: LineSplitter.lineBytesMax)
    splitter.append(longest + Array("\r\n".utf8) + longest)
    #expect(try splitter.next()?.utf8.count == longest.count && splitter.next() == nil)
    splitter.append(Array("aa".utf8))
    #expect(throws: NetworkError.self) { try splitter.next() }
  }

  @Test func `the longest line may come in two pieces that part its end`() throws {
    var splitter = LineSplitter(endsAtCR: false)
    splitter.append([UInt8](repeating: 0x61, count: LineSplitter.lineBytesMax) + Array("\r".utf8))
    #expect(try splitter.next() == nil)
    splitter.append(Array("\n".utf8))
    #expect(try splitter.next()?.utf8.count == LineSplitter.lineBytesMax)
  }

  @Test(arguments: ["a\n", "a\r\n", "a"])
  func `a line that is a byte too long is none, also where its end comes with it`(end: String) {
    var splitter = LineSplitter(endsAtCR: false)
    splitter.append([UInt8](repeating: 0x61, count: LineSplitter.lineBytesMax) + Array(end.utf8))
    #expect(throws: NetworkError.self) {
      if try splitter.next() == nil { _ = try splitter.last() }
    }
  }

  @Test func `an event has its limit, however many lines it has`() throws {
    var parser = ServerEventParser(eventBytesMax: 5)
    for line in ["data: abc", "data: d", "", "data: ab", "data: cd"] { _ = try parser.take(line) }
    #expect(throws: NetworkError.self) { try parser.take("data: e") }
  }

  @Test func `an event of many lines takes no longer than its bytes do`() throws {
    var parser = ServerEventParser()
    let line = "data: " + String(repeating: "a", count: 100)
    let time = try work { for _ in 0..<200_000 { _ = try parser.take(line) } }
    // Copied for each line it would be 2 TB.
    expect(time, within: .seconds(30))
    #expect(try parser.take("")?.data.utf8.count == 200_000 * 101 - 1)
  }

  @Test(arguments: ["3600001", "9223372036854775807", "9223372036854775808", "99999999999999999999999999"])
  func `no origin keeps a reader waiting for longer than an hour`(retry: String) throws {
    var parser = ServerEventParser()
    _ = try parser.take("retry: \(retry)")
    #expect(parser.retry == .seconds(3_600))
  }

  @Test func `an origin that brings nothing is asked less and less`() {
    func time(_ retry: Int, _ failures: Int, _ hadEvent: Bool) -> Duration {
      ReconnectPause.time(retry: .milliseconds(retry), failures: failures, hadEvent: hadEvent)
    }
    #expect(time(0, 0, true) == .zero && time(20, 0, true) == .milliseconds(20))
    #expect(time(0, 0, false) == .milliseconds(500) && time(3_000, 0, false) == .seconds(3))
    #expect(time(0, 1, false) == .seconds(1) && time(0, 99, false) == .seconds(60))
    #expect(time(3_600_000, 99, false) == .seconds(3_600))
  }

  @Test func `what stands behind the last end is a line`() throws {
    var splitter = LineSplitter(endsAtCR: false)
    splitter.append(Array("a\r\n\r\nb\r".utf8))
    #expect(try splitter.next() == "a" && splitter.next() == "")
    #expect(try splitter.next() == nil && splitter.last() == "b" && splitter.last() == nil)
  }
}
