import Dispatch
import Glibc

@testable import TestSupport

/// Takes one request on one connection, counts its body and says `ok`. Faster than a scripted origin, which
/// looks at every byte.
final class CountingOrigin: Sendable {
  private let socket: LocalSocket

  init() throws {
    socket = try LocalSocket.listening()
    let listener = socket
    DispatchQueue(label: "counting origin").async { try? Self.serve(listener) }
  }

  var url: String { "http://127.0.0.1:\(socket.port)/" }

  private static func serve(_ listener: LocalSocket) throws {
    let connection = try TestDescriptor(owning: accept(listener.descriptor.number, nil, nil), from: "accept")
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var head: [UInt8] = []
    var end: Int?
    while end == nil {
      head += buffer[..<(try fill(&buffer, from: connection))]
      end = head.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
    }
    var count = head.count - (end ?? 0)
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let line = lines.first { $0.hasPrefix("Content-Length: ") }
    let length = line.flatMap { Int($0.dropFirst("Content-Length: ".count)) } ?? 0
    if count == 0 { try connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    while count < length { count += try fill(&buffer, from: connection) }
    let text = "\(count)"
    try connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8))
  }

  private static func fill(_ buffer: inout [UInt8], from connection: TestDescriptor) throws -> Int {
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe recv(connection.number, $0.baseAddress, $0.count, 0)
    }
    guard count > 0 else { throw PartFailure("recv: errno \(errno)") }
    return count
  }
}
