import Glibc
import NetSpoolTesting
import Testing

@testable import TestSupport

/// A blocking TCP client that sends and reads bytes and knows nothing of HTTP but where an answer ends. Every
/// read gives up after a minute, so that a failing test fails and does not hang.
final class RawClient {
  enum End: Equatable {
    case closed
    case reset
    case silence
  }

  private let socket: TestDescriptor
  private var fd: Int32 { socket.number }
  private var buffer: [UInt8] = []
  private(set) var end: End?

  /// nil when the connection is refused.
  init?(port: Int) {
    guard let connected = try? LocalSocket.connected(to: UInt16(port)) else { return nil }
    socket = connected.descriptor
    end = connected.wasReset ? .reset : nil
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    unsafe setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var one: Int32 = 1
    unsafe setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(fd, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else {
        if errno == ECONNRESET { end = .reset }
        return
      }
      sent += count
    }
  }

  /// Sends a GET for this path, or another request without a body.
  func ask(_ path: String, method: String = "GET", fields: String = "") {
    send("\(method) \(path) HTTP/1.1\r\nHost: test\r\n\(fields)\r\n")
  }

  /// Says that no more requests come.
  func endSending() { _ = shutdown(fd, Int32(SHUT_WR)) }

  /// One read's worth of bytes, at most `limit`; empty at the end.
  func readSome(atMost limit: Int = 65_536) -> [UInt8] {
    if !buffer.isEmpty {
      let taken = Array(buffer.prefix(limit))
      buffer.removeFirst(taken.count)
      return taken
    }
    guard end == nil else { return [] }
    var block = [UInt8](repeating: 0, count: limit)
    let count = unsafe block.withUnsafeMutableBytes { unsafe recv(fd, $0.baseAddress, limit, 0) }
    if count > 0 { return Array(block.prefix(count)) }
    end = count == 0 ? .closed : errno == ECONNRESET ? .reset : .silence
    return []
  }

  /// Exactly `count` bytes, or fewer when the connection ends.
  func read(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = readSome(atMost: min(count - bytes.count, 1 << 20))
      if more.isEmpty { break }
      bytes.append(contentsOf: more)
    }
    return bytes
  }

  /// Up to and with the blank line.
  func readHead() -> String {
    var bytes: [UInt8] = []
    while true {
      let more = readSome()
      bytes += more
      if let blank = bytes.firstRange(of: "\r\n\r\n".utf8) {
        buffer.insert(contentsOf: bytes[blank.upperBound...], at: 0)
        bytes.removeSubrange(blank.upperBound...)
      } else if !more.isEmpty {
        continue
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Everything until the connection ends.
  func readToEnd() -> [UInt8] { read(.max) }

  /// A head and as much body as its Content-Length says.
  func readAnswer() -> (head: String, body: String) {
    let head = readHead()
    let length = head.lowercased().split(separator: "content-length: ").dropFirst().first.map {
      Int($0.prefix { $0.isNumber }) ?? 0
    }
    return (head, String(decoding: read(length ?? 0), as: UTF8.self))
  }

  /// The answer to a request without a body that is sent now.
  func answer(to path: String, method: String = "GET", fields: String = "") -> (head: String, body: String) {
    ask(path, method: method, fields: fields)
    return readAnswer()
  }
}

/// A connected client, which has sent a request without a body if there is a path.
func connected(
  _ origin: ScriptedOrigin, asking path: String? = nil, method: String = "GET", fields: String = ""
) throws -> RawClient {
  let client = try #require(RawClient(port: origin.port))
  if let path { client.ask(path, method: method, fields: fields) }
  return client
}
