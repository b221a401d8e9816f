internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

/// What the TLS library knows of the connection that a transfer is on, asked of the library that libcurl has loaded
/// (CURLINFO_TLS_SSL_PTR). With others than OpenSSL and GnuTLS, and without a connection, nothing is known.
@safe
struct TLSSession {
  private typealias Count = @Sendable @convention(c) (UnsafeMutableRawPointer) -> Int
  private typealias Agreed =
    @Sendable @convention(c) (
      UnsafeMutableRawPointer, UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafeMutablePointer<UInt32>
    ) -> Void

  private let session: UnsafeMutableRawPointer
  private let isOpenSSL: Bool

  /// Only inside the callbacks of the transfer: between them it may have no connection.
  init?(_ easy: UnsafeMutableRawPointer) {
    var backend = CURLSSLBACKEND_NONE
    guard let session = unsafe cnetspool_easy_tls_session(easy, &backend),
      backend == CURLSSLBACKEND_OPENSSL || backend == CURLSSLBACKEND_GNUTLS
    else { return nil }
    unsafe self.session = session
    isOpenSSL = backend == CURLSSLBACKEND_OPENSSL
  }

  /// It holds bytes that nobody has read: SSL_has_pending(3), gnutls_record_check_pending(3).
  var hasUnreadBytes: Bool {
    guard let pending = unsafe isOpenSSL ? Self.pendingOpenSSL : Self.pendingGnuTLS else { return false }
    // OpenSSL's has 32 bits.
    return unsafe Int32(truncatingIfNeeded: pending(session)) > 0
  }

  /// It has agreed on HTTP/2 (RFC 7301): SSL_get0_alpn_selected(3). Only OpenSSL can be asked; what others have agreed on
  /// counts as that, whose connections may speak at any time.
  var speaksHTTP2: Bool {
    guard isOpenSSL, let agreed = unsafe Self.agreedOpenSSL else { return true }
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe agreed(session, &name, &count)
    guard count == 2, let name = unsafe name else { return false }
    let (first, second) = unsafe (name[0], name[1])
    return first == UInt8(ascii: "h") && second == UInt8(ascii: "2")
  }

  private static let pendingOpenSSL = unsafe function("SSL_has_pending", as: Count.self)
  private static let pendingGnuTLS = unsafe function("gnutls_record_check_pending", as: Count.self)
  private static let agreedOpenSSL = unsafe function("SSL_get0_alpn_selected", as: Agreed.self)

  private static func function<Function>(_ name: String, as: Function.Type) -> Function? {
    guard let address = unsafe dlsym(nil, name) else { return nil }
    return unsafe unsafeBitCast(address, to: Function.self)
  }
}
