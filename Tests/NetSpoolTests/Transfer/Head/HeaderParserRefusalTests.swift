import Testing

@testable import NetSpool

/// What libcurl lets pass and we do not.
struct HeaderParserRefusalTests {
  @Test(arguments: [
    ("<html>hello", "statusLine"),  // HTTP/0.9
    ("http/1.1 200 OK", "statusLine"),  // RFC 9112 section 2.3: the name is case-sensitive
    ("ICY 200 OK", "statusLine"),
    ("", "statusLine"),
    (" HTTP/1.1 200 OK", "statusLine"),
    ("HTTP/", "version"),
    ("HTTP/1", "version"),
    ("HTTP/3.7 200 OK", "version"),
    ("HTTP/1.2 200 OK", "version"),
    ("HTTP/0.9 200 OK", "version"),
    ("HTTP/2.0 200 OK", "version"),
    ("HTTP/4 200 OK", "version"),
    ("HTTP/11 200 OK", "version"),
    ("HTTP/1.10 200 OK", "status"),
    ("HTTP/1.1  200 OK", "status"),
    ("HTTP/1.1\t200 OK", "status"),
    ("HTTP/1.1 20", "status"),
    ("HTTP/1.1 2 0 OK", "status"),
    ("HTTP/1.1 000 Nothing", "status"),
    ("HTTP/1.1 099 Low", "status"),
    ("HTTP/1.1 1000 High", "status"),
    ("HTTP/1.1 99999 Long", "status"),
    ("HTTP/1.1 -20 Minus", "status"),
    ("HTTP/1.1 200OK", "status"),
    ("HTTP/1.1 101 Switching Protocols", "unsolicited101"),
    ("HTTP/1.1 200 O\u{0}K", "nul"),
    ("HTTP/1.1 200 O\rK", "bareCR"),
    ("HTTP/1.1 200 OK\r", "bareCR"),
  ])
  func `a bad status line is a violation`(_ line: String, reason: String) {
    #expect(refusal(of: line + "\r\n\r\n") == "protocolViolation(\(reason))")
  }

  @Test(arguments: [
    ("no colon here", "noColon"), ("NoColon", "noColon"), (": value", "fieldName"),
    ("Name : value", "spaceBeforeColon"),  // RFC 9112 section 5.1
    ("Name\t: value", "spaceBeforeColon"),
    ("Na(me: value", "fieldName"),
    ("Na\u{E9}me: value", "fieldName"),
    ("Name: va\u{0}lue", "nul"),
    ("Na\u{0}me: value", "nul"),
    ("Name: va\rlue", "bareCR"),
    ("Name: value, long enough for words\r", "bareCR"),
    ("Name\r: value", "bareCR"),
    (" folded: before any field", "foldWithoutField"),
  ])
  func `a bad field line is a violation`(_ line: String, reason: String) {
    #expect(refusal(of: "HTTP/1.1 200 OK\r\n\(line)\r\n\r\n") == "protocolViolation(\(reason))")
    // The same among the trailers, and in a head whose fields are dropped.
    #expect(refusal(of: "HTTP/1.1 200 OK\r\n\r\n\(line)\r\n\r\n") == "protocolViolation(\(reason))")
    #expect(refusal(of: "HTTP/1.1 103 Hints\r\n\(line)\r\n\r\n") == "protocolViolation(\(reason))")
  }

  /// A forbidden byte is seen wherever it stands in the eight-byte words.
  @Test(arguments: [UInt8(0), 0x0D])
  func `a forbidden byte is found at every place`(_ byte: UInt8) {
    for length in 1...40 {
      for place in 0..<length {
        var value = [UInt8](repeating: UInt8(ascii: "\t"), count: length)
        value[place] = byte
        let head = Array("HTTP/1.1 200 OK\r\nX:".utf8) + value + Array("z\r\n\r\n".utf8)
        #expect(refusal(of: head)?.hasPrefix("protocolViolation") == true, "length \(length) place \(place)")
      }
    }
  }

  @Test func `other control bytes and high bytes pass`() {
    let value = (1...255).map(UInt8.init).filter { $0 != 0x0A && $0 != 0x0D }
    #expect(refusal(of: Array("HTTP/1.1 200 OK\r\nX: ".utf8) + value + Array("\r\n\r\n".utf8)) == nil)
  }

  @Test func `a line feed inside one delivered line is a violation`() {
    var parser = HeaderParser()
    let said = outcome { try deliver("HTTP/1.1 200 OK\nX: injected\r\n", to: &parser) }
    #expect(said == "protocolViolation(bareLF)")
  }

  @Test func `lines after the trailers are a violation`() {
    #expect(
      refusal(of: "HTTP/1.1 200 OK\r\n\r\nA: b\r\n\r\nC: d\r\n") == "protocolViolation(lineAfterTrailers)")
    #expect(refusal(of: "HTTP/1.1 200 OK\r\n\r\n\r\n\r\n") == "protocolViolation(lineAfterTrailers)")
  }

  @Test func `a failed head may have been processed`() {
    var parser = HeaderParser()
    let error = failure { _ = try feed(&parser, "garbage\r\n") }
    #expect(error?.sendState == .maybeProcessed)
  }
}
