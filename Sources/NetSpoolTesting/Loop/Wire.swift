/// The carrier of a connection's bytes: a socket, TLS over a socket, or a stream of HTTP/2. Lives on the
/// origin's thread; the code that speaks HTTP/1.1 over it need not know which one it is.
protocol Wire: AnyObject {
  /// True when the handshake is still to be made. Until then only what is to be thrown away may be received.
  var needsHandshake: Bool { get }
  /// Goes on with what comes before the first request.
  func shakeHands() -> Handshake
  func receive(into buffer: inout [UInt8]) -> Socket.Transfer
  func send(_ bytes: [UInt8], _ range: Range<Int>) -> Socket.Transfer
  /// Says that nothing more will be sent; reading goes on.
  func endSending()
  /// Ends both directions. Called once, and nothing is called after it or `reset`.
  func finish()
  /// Ends at once: what was not read yet is lost to the client.
  func reset()
}

/// The state of a connection's beginning.
enum Handshake {
  case done(speaksHTTP2: Bool)
  case waitsToRead
  case waitsToWrite
  case failed(String)
}

/// TCP without anything over it.
final class SocketWire: Wire {
  private let fd: Int32

  init(_ fd: Int32) { self.fd = fd }

  var needsHandshake: Bool { false }
  func shakeHands() -> Handshake { .done(speaksHTTP2: false) }
  func receive(into buffer: inout [UInt8]) -> Socket.Transfer { Socket.receive(fd, into: &buffer) }
  func send(_ bytes: [UInt8], _ range: Range<Int>) -> Socket.Transfer { Socket.send(fd, bytes, range) }
  func endSending() { Socket.endSending(fd) }
  func finish() { Socket.finish(fd) }
  func reset() { Socket.reset(fd) }
}
