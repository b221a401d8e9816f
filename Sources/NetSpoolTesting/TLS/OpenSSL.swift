/// The functions of OpenSSL 1.1.1 or 3 that are used here, by their own names. What points to an object of OpenSSL is an
/// `OpaquePointer`; https://docs.openssl.org/3.0/man3/ has a page for each.
@safe struct OpenSSL: Sendable {
  typealias Object = OpaquePointer?
  typealias Bytes = UnsafePointer<UInt8>?
  /// `(ssl, &chosen, &chosenCount, offered, offeredCount, argument)`
  typealias ChoosesProtocol =
    @convention(c) (
      Object, UnsafeMutablePointer<Bytes>?, UnsafeMutablePointer<UInt8>?, Bytes, UInt32,
      UnsafeMutableRawPointer?
    ) -> Int32

  /// Loaded by the first who needs it.
  static let shared = Result { () throws(OriginError) in try OpenSSL() }

  // The settings that connections share.
  let TLS_server_method: @Sendable @convention(c) () -> Object = unsafe ssl("TLS_server_method")
  let SSL_CTX_new: @Sendable @convention(c) (Object) -> Object = unsafe ssl("SSL_CTX_new")
  let SSL_CTX_free: @Sendable @convention(c) (Object) -> Void = unsafe ssl("SSL_CTX_free")
  let SSL_CTX_ctrl: @Sendable @convention(c) (Object, Int32, Int, UnsafeMutableRawPointer?) -> Int =
    unsafe ssl("SSL_CTX_ctrl")
  let SSL_CTX_set_options: @Sendable @convention(c) (Object, UInt64) -> UInt64 = unsafe ssl(
    "SSL_CTX_set_options")
  let SSL_CTX_use_certificate: @Sendable @convention(c) (Object, Object) -> Int32 = unsafe ssl(
    "SSL_CTX_use_certificate")
  let SSL_CTX_use_PrivateKey: @Sendable @convention(c) (Object, Object) -> Int32 = unsafe ssl(
    "SSL_CTX_use_PrivateKey")
  let SSL_CTX_set_alpn_select_cb:
    @Sendable @convention(c) (Object, ChoosesProtocol, UnsafeMutableRawPointer?) -> Void = unsafe ssl(
      "SSL_CTX_set_alpn_select_cb")

  // One connection.
  let SSL_new: @Sendable @convention(c) (Object) -> Object = unsafe ssl("SSL_new")
  let SSL_free: @Sendable @convention(c) (Object) -> Void = unsafe ssl("SSL_free")
  let SSL_set_fd: @Sendable @convention(c) (Object, Int32) -> Int32 = unsafe ssl("SSL_set_fd")
  let SSL_set_accept_state: @Sendable @convention(c) (Object) -> Void = unsafe ssl("SSL_set_accept_state")
  let SSL_do_handshake: @Sendable @convention(c) (Object) -> Int32 = unsafe ssl("SSL_do_handshake")
  let SSL_read: @Sendable @convention(c) (Object, UnsafeMutableRawPointer?, Int32) -> Int32 = unsafe ssl(
    "SSL_read")
  let SSL_write: @Sendable @convention(c) (Object, UnsafeRawPointer?, Int32) -> Int32 = unsafe ssl(
    "SSL_write")
  let SSL_shutdown: @Sendable @convention(c) (Object) -> Int32 = unsafe ssl("SSL_shutdown")
  let SSL_get_error: @Sendable @convention(c) (Object, Int32) -> Int32 = unsafe ssl("SSL_get_error")
  let SSL_get0_alpn_selected:
    @Sendable @convention(c) (Object, UnsafeMutablePointer<Bytes>?, UnsafeMutablePointer<UInt32>?) -> Void =
      unsafe ssl("SSL_get0_alpn_selected")
  let ERR_clear_error: @Sendable @convention(c) () -> Void = crypto("ERR_clear_error")
  let ERR_get_error: @Sendable @convention(c) () -> UInt = crypto("ERR_get_error")
  let ERR_reason_error_string: @Sendable @convention(c) (UInt) -> UnsafePointer<CChar>? = unsafe crypto(
    "ERR_reason_error_string")

  // Keys and certificates.
  let EVP_PKEY_CTX_new_id: @Sendable @convention(c) (Int32, Object) -> Object = unsafe crypto(
    "EVP_PKEY_CTX_new_id")
  let EVP_PKEY_CTX_free: @Sendable @convention(c) (Object) -> Void = unsafe crypto("EVP_PKEY_CTX_free")
  let EVP_PKEY_CTX_ctrl_str:
    @Sendable @convention(c) (Object, UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32 = unsafe crypto(
      "EVP_PKEY_CTX_ctrl_str")
  let EVP_PKEY_keygen_init: @Sendable @convention(c) (Object) -> Int32 = unsafe crypto("EVP_PKEY_keygen_init")
  let EVP_PKEY_keygen: @Sendable @convention(c) (Object, UnsafeMutablePointer<Object>) -> Int32 =
    unsafe crypto("EVP_PKEY_keygen")
  let EVP_PKEY_free: @Sendable @convention(c) (Object) -> Void = unsafe crypto("EVP_PKEY_free")
  let EVP_sha256: @Sendable @convention(c) () -> Object = unsafe crypto("EVP_sha256")
  let X509_new: @Sendable @convention(c) () -> Object = unsafe crypto("X509_new")
  let X509_free: @Sendable @convention(c) (Object) -> Void = unsafe crypto("X509_free")
  let X509_set_version: @Sendable @convention(c) (Object, Int) -> Int32 = unsafe crypto("X509_set_version")
  let X509_get_serialNumber: @Sendable @convention(c) (Object) -> Object = unsafe crypto(
    "X509_get_serialNumber")
  let ASN1_INTEGER_set: @Sendable @convention(c) (Object, Int) -> Int32 = unsafe crypto("ASN1_INTEGER_set")
  let X509_getm_notBefore: @Sendable @convention(c) (Object) -> Object = unsafe crypto("X509_getm_notBefore")
  let X509_getm_notAfter: @Sendable @convention(c) (Object) -> Object = unsafe crypto("X509_getm_notAfter")
  let X509_gmtime_adj: @Sendable @convention(c) (Object, Int) -> Object = unsafe crypto("X509_gmtime_adj")
  let X509_get_subject_name: @Sendable @convention(c) (Object) -> Object = unsafe crypto(
    "X509_get_subject_name")
  let X509_NAME_add_entry_by_txt:
    @Sendable @convention(c) (Object, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, Int32, Int32, Int32)
      -> Int32 = unsafe crypto("X509_NAME_add_entry_by_txt")
  let X509_set_issuer_name: @Sendable @convention(c) (Object, Object) -> Int32 = unsafe crypto(
    "X509_set_issuer_name")
  let X509_set_pubkey: @Sendable @convention(c) (Object, Object) -> Int32 = unsafe crypto("X509_set_pubkey")
  let X509V3_set_ctx:
    @Sendable @convention(c) (UnsafeMutableRawPointer?, Object, Object, Object, Object, Int32) -> Void =
      unsafe crypto("X509V3_set_ctx")
  let X509V3_EXT_nconf:
    @Sendable @convention(c) (Object, UnsafeMutableRawPointer?, UnsafePointer<CChar>, UnsafePointer<CChar>) ->
      Object = unsafe crypto("X509V3_EXT_nconf")
  let X509_EXTENSION_free: @Sendable @convention(c) (Object) -> Void = unsafe crypto("X509_EXTENSION_free")
  let X509_add_ext: @Sendable @convention(c) (Object, Object, Int32) -> Int32 = unsafe crypto("X509_add_ext")
  let X509_sign: @Sendable @convention(c) (Object, Object, Object) -> Int32 = unsafe crypto("X509_sign")
  let BIO_s_mem: @Sendable @convention(c) () -> Object = unsafe crypto("BIO_s_mem")
  let BIO_new: @Sendable @convention(c) (Object) -> Object = unsafe crypto("BIO_new")
  let BIO_free: @Sendable @convention(c) (Object) -> Int32 = unsafe crypto("BIO_free")
  let BIO_read: @Sendable @convention(c) (Object, UnsafeMutableRawPointer?, Int32) -> Int32 = unsafe crypto(
    "BIO_read")
  let PEM_write_bio_X509: @Sendable @convention(c) (Object, Object) -> Int32 = unsafe crypto(
    "PEM_write_bio_X509")

  private init() throws(OriginError) {
    try ssl.check()
    try crypto.check()
  }
}

private let ssl = SystemLibrary("libssl.so.3", "libssl.so.1.1", "libssl.so")
private let crypto = SystemLibrary("libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so")
