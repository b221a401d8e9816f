import Testing

@testable import NetSpool

/// Sizes at and just past each limit.
struct HeaderParserLimitTests {
  @Test func `the defaults are the documented ones`() {
    let limits = HeaderLimits()
    #expect(limits.lineBytesMax == 65_536 && limits.totalBytesMax == 131_072)
    #expect(limits.linesMax == 256 && limits.trailerBytesMax == 65_536 && limits.informationalMax == 32)
  }

  private func head(line byteCount: Int) -> String {
    "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: byteCount - 5) + "\r\n\r\n"
  }

  @Test func `a line may be 64 KiB`() {
    #expect(refusal(of: head(line: 65_536)) == nil)
    #expect(refusal(of: head(line: 65_537)) == "headersTooLarge(line)")
  }

  @Test func `a head may be 128 KiB`() {
    let line = "X: " + String(repeating: "a", count: 995) + "\r\n"
    func head(of byteCount: Int) -> String {
      let start = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 130)
      let rest = byteCount - start.utf8.count - 2
      return start + "Y: " + String(repeating: "a", count: rest - 5) + "\r\n\r\n"
    }
    #expect(refusal(of: head(of: 131_072)) == nil)
    #expect(refusal(of: head(of: 131_073)) == "headersTooLarge(total)")
    #expect(refusal(of: head(of: 131_073).replacing("200 OK", with: "103 Hi")) == "headersTooLarge(total)")
  }

  @Test func `a head may have 256 lines`() {
    func head(_ count: Int, line: String = "A: b\r\n") -> String {
      "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: count) + "\r\n"
    }
    #expect(refusal(of: head(256)) == nil)
    #expect(refusal(of: head(257)) == "headersTooLarge(count)")
    #expect(refusal(of: head(129, line: "A: b\r\n c\r\n")) == "headersTooLarge(count)", "folds count")
  }

  @Test func `trailers may be 64 KiB and 256 lines`() {
    let start = "HTTP/1.1 200 OK\r\n\r\n"
    let long = "X: " + String(repeating: "a", count: 1019) + "\r\n"
    #expect(refusal(of: start + String(repeating: long, count: 64)) == nil)
    #expect(refusal(of: start + String(repeating: long, count: 65)) == "headersTooLarge(trailers)")
    #expect(refusal(of: start + String(repeating: "A: b\r\n", count: 256)) == nil)
    #expect(refusal(of: start + String(repeating: "A: b\r\n", count: 257)) == "headersTooLarge(trailers)")
  }

  @Test func `thirty-two informational heads are enough`() {
    func answer(_ count: Int) -> String {
      String(repeating: "HTTP/1.1 103 Hints\r\n\r\n", count: count) + "HTTP/1.1 200 OK\r\n\r\n"
    }
    #expect(refusal(of: answer(32)) == nil)
    #expect(refusal(of: answer(33)) == "tooManyInformational")
  }

  @Test func `limits are settable`() {
    let said = refusal(of: "HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n") { $0.limits.linesMax = 1 }
    #expect(said == "headersTooLarge(count)")
  }
}
