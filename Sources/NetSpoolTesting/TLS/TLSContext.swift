import Glibc
import Synchronization

/// Certificate, key and settings of an origin, from which its connections are made. Any thread.
@safe final class TLSContext: Sendable {
  /// PEM, for clients that are to trust the origin.
  let authority: String
  private let library: OpenSSL
  /// An SSL_CTX.
  private let context: Mutex<OpenSSL.Object>

  init(_ tls: OriginTLS) throws(OriginError) {
    let library = try OpenSSL.shared.get()
    if tls.offersHTTP2 { _ = try NGHTTP2.shared.get() }
    let authority = try Certificate.authority(library)
    let own = try authority.issue(for: tls)
    guard let made = unsafe library.SSL_CTX_new(library.TLS_server_method()) else {
      throw library.failure("SSL_CTX_new")
    }
    self.library = library
    self.authority = authority.pem
    // Part of the bytes may be taken, and the rest come from another place.
    let modes = (call: Int32(33), partialWrite: 1, movingBuffer: 2)
    _ = unsafe library.SSL_CTX_ctrl(made, modes.call, modes.partialWrite | modes.movingBuffer, nil)
    // A client that goes without a word has gone: SSL_OP_IGNORE_UNEXPECTED_EOF.
    _ = unsafe library.SSL_CTX_set_options(made, 1 << 7)
    unsafe library.SSL_CTX_set_alpn_select_cb(
      made, chooseProtocol, UnsafeMutableRawPointer(bitPattern: tls.offersHTTP2 ? 1 : 0))
    try unsafe own.use(in: made)
    unsafe context = unsafe Mutex(made)
  }

  deinit { unsafe context.withLock { unsafe library.SSL_CTX_free($0) } }

  /// The wire of a connection that was just accepted. Takes the descriptor over.
  func wire(_ fd: Int32) -> any Wire {
    let session = unsafe context.withLock { unsafe UInt(bitPattern: library.SSL_new($0)) }
    return unsafe TLSWire(fd, OpaquePointer(bitPattern: session), library)
  }
}

/// The best protocol among those that the client offers, each with its length before it (RFC 7301 section 3.1).
private func chooseProtocol(
  _: OpenSSL.Object, chosen: UnsafeMutablePointer<OpenSSL.Bytes>?, count: UnsafeMutablePointer<UInt8>?,
  offered: OpenSSL.Bytes, offeredCount: UInt32, speaksHTTP2: UnsafeMutableRawPointer?
) -> Int32 {
  let (isChosen, isNone): (Int32, Int32) = (0, 3)
  guard let offered = unsafe offered, let chosen = unsafe chosen, let count = unsafe count else {
    return isNone
  }
  let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredCount))
  for wanted in unsafe speaksHTTP2 == nil ? ["http/1.1"] : ["h2", "http/1.1"] {
    var place = 0
    while place < list.count, unsafe place + Int(list[place]) < list.count {
      let name = unsafe list[(place + 1)...].prefix(Int(list[place]))
      if unsafe name.elementsEqual(wanted.utf8) {
        unsafe chosen.pointee = unsafe offered + place + 1
        unsafe count.pointee = unsafe list[place]
        return isChosen
      }
      unsafe place += 1 + Int(list[place])
    }
  }
  return isNone
}

extension OpenSSL {
  /// Why the last call on this thread failed, in OpenSSL's words; empties its list of errors.
  var lastReason: String? {
    let code = ERR_get_error()
    ERR_clear_error()
    return code == 0 ? nil : unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
  }

  func failure(_ call: String) -> OriginError {
    OriginError(call: "\(call): \(lastReason ?? "no reason given")", errno: EINVAL)
  }
}
