import Testing

@testable import NetSpoolTesting

/// What an exchange may do before the other connections of its origin have their turn.
@Suite struct TurnTests {
  /// A client that reads whatever comes.
  private final class Bottomless: Wire {
    private(set) var bytesSent = 0

    var needsHandshake: Bool { false }
    func shakeHands() -> Handshake { .done(speaksHTTP2: true) }
    func receive(into buffer: inout [UInt8]) -> Socket.Transfer { .wouldBlock }
    func send(_ bytes: [UInt8], _ range: Range<Int>) -> Socket.Transfer {
      bytesSent += range.count
      return .bytes(range.count)
    }
    func endSending() {}
    func finish() {}
    func reset() {}
  }

  /// RFC 9113 section 3.4, empty SETTINGS, and HEADERS with the end of stream 1 (RFC 7541 appendix A).
  private static let request =
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
    + [0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x87, 0x84, 0x41, 1, UInt8(ascii: "h")]

  @Test func `heads without end leave the others their turn`() throws {
    let state = OriginState(limits: OriginLimits(), waker: try Waker())
    let head = Array("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n".utf8)
    state.changeRoutes { $0.set("/", nil, .fixed(.raw([.repeating(head, times: nil)]))) }
    let wire = Bottomless()
    let session = try HTTP2Session(wire, number: 0, state: state)
    session.receive(Self.request[...])
    for turn in 1...3 {
      _ = session.advance(.now)
      #expect(session.waitsToWrite)
      #expect(wire.bytesSent > turn * 10_000)
      #expect(wire.bytesSent < turn * 65_536)
    }
  }
}
