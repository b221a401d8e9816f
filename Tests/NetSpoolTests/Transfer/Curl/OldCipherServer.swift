@testable import TestSupport

/// A TLS 1.2 server (RFC 5246) that chooses a cipher, whatever it is offered, and says nothing more.
enum OldCipherServer {
  /// Reads one ClientHello, answers with a ServerHello, waits for the client to end, and answers which ciphers the
  /// client had offered.
  static func serveOne(_ listening: LocalSocket, _ cipher: UInt16) throws -> [UInt16] {
    let connection = try listening.accepted(before: .generous)
    let hello = try readRecord(connection)
    try connection.write(serverHello(cipher))
    _ = try? connection.readToEnd(before: .generous)
    return ciphers(hello)
  }

  /// The content of one record: its header is five bytes, the last two of them the length.
  private static func readRecord(_ connection: TestDescriptor) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < 5 || bytes.count < 5 + Int(bytes[3]) << 8 + Int(bytes[4]) {
      let more = try connection.read(before: .generous)
      guard !more.isEmpty else { throw PartFailure("the client ended inside its first record") }
      bytes += more
    }
    return Array(bytes[5...])
  }

  /// Behind a handshake header of four bytes, the version's two, the random number's 32 and the session's number.
  private static func ciphers(_ hello: [UInt8]) -> [UInt16] {
    let start = 39 + Int(hello[38])
    let count = Int(hello[start]) << 8 + Int(hello[start + 1])
    return stride(from: start + 2, to: start + 2 + count, by: 2).map {
      UInt16(hello[$0]) << 8 + UInt16(hello[$0 + 1])
    }
  }

  private static func serverHello(_ cipher: UInt16) -> [UInt8] {
    let random = [UInt8](repeating: 7, count: 32)
    let body = [3, 3] + random + [0, UInt8(cipher >> 8), UInt8(cipher & 0xFF), 0]
    let handshake = [2, 0, 0, UInt8(body.count)] + body
    return [22, 3, 3, 0, UInt8(handshake.count)] + handshake
  }
}
