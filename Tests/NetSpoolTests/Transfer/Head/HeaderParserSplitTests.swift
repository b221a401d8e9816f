import Testing

@testable import NetSpool
@testable import TestSupport

/// Answers that were cut off.
struct HeaderParserSplitTests {
  static let answers = [
    "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 5\r\nX: a\r\n b\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\nA:b\n\nT: r\r\n\r\n",
    "HTTP/2 302 \r\nlocation: /there\r\nset-cookie: a\r\nset-cookie: b\r\n\r\n",
  ]

  @Test(arguments: answers)
  func `every truncation is seen`(_ text: String) throws {
    let all = Array(text.utf8)
    for cut in 0..<all.count {
      var parser = HeaderParser()
      let said = try feed(&parser, all[..<cut])
      let hasHead = said.contains { if case .head = $0 { true } else { false } }
      #expect(parser.isHeadComplete == hasHead, "cut at \(cut)")
    }
  }
}
