import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

struct WireHeadTests {
  @Test func `both heads are told as they went, and between whom`() async throws {
    let told = Journal<WireHead>()
    try await withWire({ $0.onWire = { told.add($0) } }) { wire in
      wire.origin.on("/a", .text("body"))
      _ = try await wire.answer(wire.operation("/a"))
      var (sent, received, ports) = ("", "", [Int]())
      for word in told.entries {
        switch word {
        case .sent(let bytes): sent += String(decoding: bytes, as: UTF8.self)
        case .received(let bytes): received += String(decoding: bytes, as: UTF8.self)
        case .connection(let remote, _): ports.append(remote.port)
        }
      }
      #expect(sent.hasPrefix("GET /a HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\n"))
      #expect(received.hasPrefix("HTTP/1.1 200 ") && received.hasSuffix("\r\n\r\n"))
      #expect(ports == [Int(wire.origin.port)])
    }
  }
}
