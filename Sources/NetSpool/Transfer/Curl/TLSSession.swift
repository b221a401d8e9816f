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

  /// True if it holds bytes that libcurl has not read: SSL_has_pending(3), gnutls_record_check_pending(3).
  var hasUnreadBytes: Bool {
    guard let pending = unsafe isOpenSSL ? Self.pendingOpenSSL : Self.pendingGnuTLS else { return false }
    // OpenSSL's has 32 bits.
    return unsafe Int32(truncatingIfNeeded: pending(session)) > 0
  }

  /// True if it has agreed on HTTP/2 (RFC 7301): SSL_get0_alpn_selected(3). Only OpenSSL can be asked; what others have agreed on
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

  private static let pendingOpenSSL = unsafe LoadedLibraries.function("SSL_has_pending", as: Count.self)
  private static let pendingGnuTLS = unsafe LoadedLibraries.function(
    "gnutls_record_check_pending", as: Count.self)
  private static let agreedOpenSSL = unsafe LoadedLibraries.function(
    "SSL_get0_alpn_selected", as: Agreed.self)
}

/// What a context of OpenSSL's is given before its handshake (CURLOPT_SSL_CTX_FUNCTION). Another TLS library calls nothing here.
enum TLSContext {
  private typealias Begin =
    @Sendable @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
    ) -> UInt32

  /// - Parameter authorities: kept by the caller for as long as the handle lives.
  static func apply(to easy: UnsafeMutableRawPointer, _ authorities: Authorities?) {
    unsafe cnetspool_easy_set_pointer(
      easy, CURLOPT_SSL_CTX_FUNCTION, unsafeBitCast(begin, to: UnsafeMutableRawPointer.self))
    unsafe cnetspool_easy_set_pointer(
      easy, CURLOPT_SSL_CTX_DATA, authorities.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
  }

  private static let begin: Begin = { _, context, authorities in
    guard let context = unsafe context else { return 0 }
    unsafe HandshakeBound.apply(to: context)
    guard let authorities = unsafe authorities else { return 0 }
    // Safe because the handle of this handshake keeps them.
    let isLent = unsafe Unmanaged<Authorities>.fromOpaque(authorities).takeUnretainedValue().lend(to: context)
    return isLent ? 0 : CURLE_SSL_CACERT_BADFILE.rawValue
  }
}

/// The place of the authorities that a certificate may come from.
///
/// Most systems have a bundle and a folder with the same in it, and libcurl is built to use both. The folder is left out
/// unless it is asked for: it is looked into for new connections, where the bundle is read once (`Authorities`).
enum TrustStore: Sendable, Hashable {
  /// The bundle that libcurl was built for. Where there is none every connection is refused (`trustStore`).
  case system
  /// A PEM bundle, a folder of certificates by their hashes (openssl-rehash(1)), or both; nothing else.
  case files(bundle: String?, folder: String?)

  /// The caller's files count alone; then those of the environment, in OpenSSL's variables (openssl-env(7)), of which
  /// the folder is used only where no bundle is named.
  init(bundle: String?, folder: String?, environment: (String) -> String?) {
    if bundle != nil || folder != nil {
      self = .files(bundle: bundle, folder: folder)
      return
    }
    let file = environment("SSL_CERT_FILE")
    let directory = file == nil ? environment("SSL_CERT_DIR") : nil
    self = file == nil && directory == nil ? .system : .files(bundle: file, folder: directory)
  }

  enum Part { case bundle, folder }

  /// What is no file, or no folder: libcurl reads it on the loop's thread, and a pipe might never have an end.
  var firstUnfit: Part? {
    guard case .files(let bundle, let folder) = self else { return nil }
    if let bundle, !FileStatus.mayBeLent(bundle) { return .bundle }
    if let folder, !FileStatus.mayBeLent(folder, as: .directory) { return .folder }
    return nil
  }

  /// - Parameter authorities: these count, and libcurl reads none itself.
  func apply(
    to easy: UnsafeMutableRawPointer, bundle: CURLoption, folder: CURLoption, _ authorities: Authorities?
  ) {
    if let authorities {
      unsafe cnetspool_easy_set_string(easy, bundle, nil)
      unsafe cnetspool_easy_set_string(easy, folder, authorities.name)
      return
    }
    switch self {
    case .system: unsafe cnetspool_easy_set_string(easy, folder, nil)
    case .files(let bundlePath, let folderPath):
      unsafe cnetspool_easy_set_string(easy, bundle, bundlePath)
      unsafe cnetspool_easy_set_string(easy, folder, folderPath)
    }
  }
}
