internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc
internal import Synchronization

/// Refuses a Diffie-Hellman group of more than 2,048 bits, where libcurl uses OpenSSL: the peer chooses it, and with 10,000 bits,
/// which OpenSSL allows, a handshake would keep the loop for more than half a second.
@safe
enum HandshakeBound {
  /// SSL_CTX_set_security_callback(3): session, context, what, its bits of security, its number, itself, and what is the caller's.
  private typealias Judge =
    @Sendable @convention(c) (
      UnsafeRawPointer?, UnsafeRawPointer?, Int32, Int32, Int32, UnsafeMutableRawPointer?,
      UnsafeMutableRawPointer?
    ) -> Int32
  private typealias Getter = @Sendable @convention(c) (UnsafeMutableRawPointer) -> Judge?
  private typealias Setter = @Sendable @convention(c) (UnsafeMutableRawPointer, Judge?) -> Void
  private typealias Begin =
    @Sendable @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
    ) -> UInt32

  /// SSL_SECOP_TMP_DH.
  private static let ephemeralGroup: Int32 = 4 << 16 | 7
  /// What 2,048 bits are worth (NIST SP 800-57 part 1, table 2).
  private static let bitsMax: Int32 = 112

  /// OpenSSL's own, which is the same for all contexts.
  private static let usual = Atomic(0)

  /// CURLOPT_SSL_CTX_FUNCTION; others than OpenSSL know nothing of it, or have none of these functions.
  static func apply(to easy: UnsafeMutableRawPointer) {
    unsafe cnetspool_easy_set_pointer(
      easy, CURLOPT_SSL_CTX_FUNCTION, unsafeBitCast(begin, to: UnsafeMutableRawPointer.self))
  }

  private static let begin: Begin = { _, context, _ in
    guard let context = unsafe context, let get = unsafe getter, let set = unsafe setter,
      let judge = unsafe get(context)
    else { return 0 }
    let address = unsafe unsafeBitCast(judge, to: Int.self)
    if unsafe address != unsafeBitCast(bounded, to: Int.self) {
      usual.store(address, ordering: .releasing)
      unsafe set(context, bounded)
    }
    return 0
  }

  private static let bounded: Judge = { session, context, what, bits, number, other, extra in
    if what == ephemeralGroup, bits > bitsMax { return 0 }
    let judge = unsafe unsafeBitCast(usual.load(ordering: .acquiring), to: Judge.self)
    return unsafe judge(session, context, what, bits, number, other, extra)
  }

  private static let getter = unsafe function("SSL_CTX_get_security_callback", as: Getter.self)
  private static let setter = unsafe function("SSL_CTX_set_security_callback", as: Setter.self)

  private static func function<Function>(_ name: String, as: Function.Type) -> Function? {
    guard let address = unsafe dlsym(nil, name) else { return nil }
    return unsafe unsafeBitCast(address, to: Function.self)
  }
}
