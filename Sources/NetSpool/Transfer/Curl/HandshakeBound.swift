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

  /// SSL_SECOP_TMP_DH.
  private static let ephemeralGroup: Int32 = 4 << 16 | 7
  /// What 2,048 bits are worth (NIST SP 800-57 part 1, table 2).
  private static let bitsMax: Int32 = 112

  /// OpenSSL's own, which is the same for all contexts.
  private static let usual = Atomic(0)

  /// A context of OpenSSL's; others have none of these functions.
  static func apply(to context: UnsafeMutableRawPointer) {
    guard let get = unsafe getter, let set = unsafe setter, let judge = unsafe get(context) else { return }
    let address = unsafe unsafeBitCast(judge, to: Int.self)
    if unsafe address != unsafeBitCast(bounded, to: Int.self) {
      usual.store(address, ordering: .releasing)
      unsafe set(context, bounded)
    }
  }

  private static let bounded: Judge = { session, context, what, bits, number, other, extra in
    if what == ephemeralGroup, bits > bitsMax { return 0 }
    let judge = unsafe unsafeBitCast(usual.load(ordering: .acquiring), to: Judge.self)
    return unsafe judge(session, context, what, bits, number, other, extra)
  }

  private static let getter = unsafe LoadedLibraries.function(
    "SSL_CTX_get_security_callback", as: Getter.self)
  private static let setter = unsafe LoadedLibraries.function(
    "SSL_CTX_set_security_callback", as: Setter.self)
}
