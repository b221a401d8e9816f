import Glibc

/// TLS over a socket. The thread it lives on has SIGPIPE blocked, as all signals: OpenSSL writes without MSG_NOSIGNAL.
@safe final class TLSWire: Wire {
  private let fd: Int32
  /// An SSL.
  private let session: OpenSSL.Object
  private let library: OpenSSL
  private(set) var needsHandshake = true
  /// After a failure nothing may be called but SSL_free.
  private var mayShutDown = false

  init(_ fd: Int32, _ session: OpenSSL.Object, _ library: OpenSSL) {
    self.fd = fd
    unsafe self.session = unsafe session
    self.library = library
    _ = unsafe library.SSL_set_fd(session, fd)
    unsafe library.SSL_set_accept_state(session)
  }

  deinit { unsafe library.SSL_free(session) }

  func shakeHands() -> Handshake {
    library.ERR_clear_error()
    let result = unsafe library.SSL_do_handshake(session)
    switch unsafe library.SSL_get_error(session, result) {
    case Outcome.none:
      needsHandshake = false
      mayShutDown = true
      return .done(speaksHTTP2: hasChosenHTTP2)
    case Outcome.wantsRead: return .waitsToRead
    case Outcome.wantsWrite: return .waitsToWrite
    default: return .failed(library.lastReason ?? "the connection ended")
    }
  }

  private var hasChosenHTTP2: Bool {
    var name: OpenSSL.Bytes = nil
    var count: UInt32 = 0
    unsafe library.SSL_get0_alpn_selected(session, &name, &count)
    return unsafe UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
  }

  /// A record at most. The buffer is larger than one, so nothing is left inside OpenSSL where `poll` does not see it.
  func receive(into buffer: inout [UInt8]) -> Socket.Transfer {
    if needsHandshake { return Socket.receive(fd, into: &buffer) }
    library.ERR_clear_error()
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe library.SSL_read(session, $0.baseAddress, Int32($0.count))
    }
    return transfer(count)
  }

  func send(_ bytes: [UInt8], _ range: Range<Int>) -> Socket.Transfer {
    library.ERR_clear_error()
    let count = unsafe bytes.withUnsafeBytes { raw in
      let part = unsafe UnsafeRawBufferPointer(rebasing: raw[range])
      return unsafe library.SSL_write(session, part.baseAddress, Int32(part.count))
    }
    return transfer(count)
  }

  private func transfer(_ result: Int32) -> Socket.Transfer {
    if result > 0 { return .bytes(Int(result)) }
    switch unsafe library.SSL_get_error(session, result) {
    case Outcome.wantsRead, Outcome.wantsWrite: return .wouldBlock
    case Outcome.isOver: return .end
    default:
      mayShutDown = false
      return .failed
    }
  }

  /// With `close_notify`: what a client has read is then whole, and no attacker has cut it.
  func endSending() {
    shutDown()
    Socket.endSending(fd)
  }

  func finish() {
    shutDown()
    Socket.finish(fd)
  }

  func reset() { Socket.reset(fd) }

  private func shutDown() {
    guard mayShutDown else { return }
    mayShutDown = false
    library.ERR_clear_error()
    _ = unsafe library.SSL_shutdown(session)
  }

  /// Answers of SSL_get_error.
  private enum Outcome {
    static let none: Int32 = 0
    static let wantsRead: Int32 = 2
    static let wantsWrite: Int32 = 3
    static let isOver: Int32 = 6
  }
}
