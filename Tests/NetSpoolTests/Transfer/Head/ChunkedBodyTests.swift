import Testing

@testable import NetSpool

/// RFC 9112 section 7.1, at every split point.
@Suite("Chunks")
struct ChunkedBodyTests {
  private struct Reading: Equatable {
    var data = ""
    var trailers: [String] = []
    var surplus = 0
    var isEnded = false
  }

  private static func read(_ pieces: [[UInt8]]) throws -> Reading {
    var body = ChunkedBody()
    var reading = Reading()
    for piece in pieces {
      var place = 0
      while let part = try body.next(piece.span, from: &place) {
        switch part {
        case .data(let range): reading.data += String(decoding: piece[range], as: UTF8.self)
        case .trailer(let line): reading.trailers.append(String(decoding: line, as: UTF8.self))
        case .surplus(let count): reading.surplus += count
        }
      }
    }
    reading.isEnded = body.isEnded
    return reading
  }

  @Test func `are put together wherever they are cut`() throws {
    let text = "5;a=\"b\"\r\nhello\r\n00B ; c\r\n big\r\nworld\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\nmore"
    let bytes = [UInt8](text.utf8)
    let whole = try Self.read([bytes])
    let trailers = ["X-Sum: 1\r\n", "Y: 2\r\n", "\r\n"]
    #expect(whole == Reading(data: "hello big\r\nworld", trailers: trailers, surplus: 4, isEnded: true))
    for cut in 1..<bytes.count {
      #expect(try Self.read([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "cut at \(cut)")
    }
    #expect(try Self.read(bytes.map { [$0] }) == whole)
  }

  @Test(arguments: [
    "xyz\r\n", "-5\r\n", "0x5\r\nhello\r\n", "\r\nhello", "00000000000000000005\r\n", "ffffffffffffffff\r\n",
    "5\r\nhello0\r\n", "5\r\nhello world\r\n",
    "1;" + String(repeating: "x", count: ChunkedBody.extensionBytesMax) + "\r\na\r\n",
  ])
  func `are refused when they are none`(_ text: String) {
    #expect(failure { _ = try Self.read([[UInt8](text.utf8)]) }?.code == .badChunk)
  }

  @Test func `have extensions of a limited length each, however many there are`() throws {
    let chunk = "1;" + String(repeating: "x", count: 4_000) + "\r\na\r\n"
    let text = String(repeating: chunk, count: 100) + "0\r\n\r\n"
    #expect(try Self.read([[UInt8](text.utf8)]).data.count == 100)
  }

  @Test func `do not end before their blank line`() throws {
    for text in ["5\r\nhello\r\n", "5\r\nhello\r\n0\r\n", "5\r\nhel"] {
      #expect(try !Self.read([[UInt8](text.utf8)]).isEnded)
    }
  }

  @Test func `have trailer lines of a limited length`() {
    let text = "0\r\nX: " + String(repeating: "x", count: ChunkedBody.trailerLineBytesMax)
    let error = #expect(throws: NetworkError.self) { try Self.read([[UInt8](text.utf8)]) }
    #expect(error?.code == .headersTooLarge && error?.reason == "trailers")
  }
}
