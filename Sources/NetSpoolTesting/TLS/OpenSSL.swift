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
  let TLS_server_method: @Sendable @convention(c) () -> Object
  let SSL_CTX_new: @Sendable @convention(c) (Object) -> Object
  let SSL_CTX_free: @Sendable @convention(c) (Object) -> Void
  let SSL_CTX_ctrl: @Sendable @convention(c) (Object, Int32, Int, UnsafeMutableRawPointer?) -> Int
  let SSL_CTX_set_options: @Sendable @convention(c) (Object, UInt64) -> UInt64
  let SSL_CTX_use_certificate: @Sendable @convention(c) (Object, Object) -> Int32
  let SSL_CTX_use_PrivateKey: @Sendable @convention(c) (Object, Object) -> Int32
  let SSL_CTX_set_alpn_select_cb:
    @Sendable @convention(c) (Object, ChoosesProtocol, UnsafeMutableRawPointer?) -> Void

  // One connection.
  let SSL_new: @Sendable @convention(c) (Object) -> Object
  let SSL_free: @Sendable @convention(c) (Object) -> Void
  let SSL_set_fd: @Sendable @convention(c) (Object, Int32) -> Int32
  let SSL_set_accept_state: @Sendable @convention(c) (Object) -> Void
  let SSL_do_handshake: @Sendable @convention(c) (Object) -> Int32
  let SSL_read: @Sendable @convention(c) (Object, UnsafeMutableRawPointer?, Int32) -> Int32
  let SSL_write: @Sendable @convention(c) (Object, UnsafeRawPointer?, Int32) -> Int32
  let SSL_shutdown: @Sendable @convention(c) (Object) -> Int32
  let SSL_get_error: @Sendable @convention(c) (Object, Int32) -> Int32
  let SSL_get0_alpn_selected:
    @Sendable @convention(c) (Object, UnsafeMutablePointer<Bytes>?, UnsafeMutablePointer<UInt32>?) -> Void
  let ERR_clear_error: @Sendable @convention(c) () -> Void
  let ERR_get_error: @Sendable @convention(c) () -> UInt
  let ERR_reason_error_string: @Sendable @convention(c) (UInt) -> UnsafePointer<CChar>?

  // Keys and certificates.
  let EVP_PKEY_CTX_new_id: @Sendable @convention(c) (Int32, Object) -> Object
  let EVP_PKEY_CTX_free: @Sendable @convention(c) (Object) -> Void
  let EVP_PKEY_CTX_ctrl_str:
    @Sendable @convention(c) (Object, UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
  let EVP_PKEY_keygen_init: @Sendable @convention(c) (Object) -> Int32
  let EVP_PKEY_keygen: @Sendable @convention(c) (Object, UnsafeMutablePointer<Object>) -> Int32
  let EVP_PKEY_free: @Sendable @convention(c) (Object) -> Void
  let EVP_sha256: @Sendable @convention(c) () -> Object
  let X509_new: @Sendable @convention(c) () -> Object
  let X509_free: @Sendable @convention(c) (Object) -> Void
  let X509_set_version: @Sendable @convention(c) (Object, Int) -> Int32
  let X509_get_serialNumber: @Sendable @convention(c) (Object) -> Object
  let ASN1_INTEGER_set: @Sendable @convention(c) (Object, Int) -> Int32
  let X509_getm_notBefore: @Sendable @convention(c) (Object) -> Object
  let X509_getm_notAfter: @Sendable @convention(c) (Object) -> Object
  let X509_gmtime_adj: @Sendable @convention(c) (Object, Int) -> Object
  let X509_get_subject_name: @Sendable @convention(c) (Object) -> Object
  let X509_NAME_add_entry_by_txt:
    @Sendable @convention(c) (Object, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, Int32, Int32, Int32)
      ->
      Int32
  let X509_set_issuer_name: @Sendable @convention(c) (Object, Object) -> Int32
  let X509_set_pubkey: @Sendable @convention(c) (Object, Object) -> Int32
  let X509V3_set_ctx:
    @Sendable @convention(c) (UnsafeMutableRawPointer?, Object, Object, Object, Object, Int32) -> Void
  let X509V3_EXT_nconf:
    @Sendable @convention(c) (
      Object, UnsafeMutableRawPointer?, UnsafePointer<CChar>, UnsafePointer<CChar>
    ) -> Object
  let X509_EXTENSION_free: @Sendable @convention(c) (Object) -> Void
  let X509_add_ext: @Sendable @convention(c) (Object, Object, Int32) -> Int32
  let X509_sign: @Sendable @convention(c) (Object, Object, Object) -> Int32
  let BIO_s_mem: @Sendable @convention(c) () -> Object
  let BIO_new: @Sendable @convention(c) (Object) -> Object
  let BIO_free: @Sendable @convention(c) (Object) -> Int32
  let BIO_read: @Sendable @convention(c) (Object, UnsafeMutableRawPointer?, Int32) -> Int32
  let PEM_write_bio_X509: @Sendable @convention(c) (Object, Object) -> Int32
}

extension OpenSSL {
  private init() throws(OriginError) {
    let ssl = try SystemLibrary("libssl.so.3", "libssl.so.1.1", "libssl.so")
    let crypto = try SystemLibrary("libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so")
    unsafe TLS_server_method = try unsafe ssl("TLS_server_method")
    unsafe SSL_CTX_new = try unsafe ssl("SSL_CTX_new")
    unsafe SSL_CTX_free = try unsafe ssl("SSL_CTX_free")
    unsafe SSL_CTX_ctrl = try unsafe ssl("SSL_CTX_ctrl")
    unsafe SSL_CTX_set_options = try unsafe ssl("SSL_CTX_set_options")
    unsafe SSL_CTX_use_certificate = try unsafe ssl("SSL_CTX_use_certificate")
    unsafe SSL_CTX_use_PrivateKey = try unsafe ssl("SSL_CTX_use_PrivateKey")
    unsafe SSL_CTX_set_alpn_select_cb = try unsafe ssl("SSL_CTX_set_alpn_select_cb")
    unsafe SSL_new = try unsafe ssl("SSL_new")
    unsafe SSL_free = try unsafe ssl("SSL_free")
    unsafe SSL_set_fd = try unsafe ssl("SSL_set_fd")
    unsafe SSL_set_accept_state = try unsafe ssl("SSL_set_accept_state")
    unsafe SSL_do_handshake = try unsafe ssl("SSL_do_handshake")
    unsafe SSL_read = try unsafe ssl("SSL_read")
    unsafe SSL_write = try unsafe ssl("SSL_write")
    unsafe SSL_shutdown = try unsafe ssl("SSL_shutdown")
    unsafe SSL_get_error = try unsafe ssl("SSL_get_error")
    unsafe SSL_get0_alpn_selected = try unsafe ssl("SSL_get0_alpn_selected")
    ERR_clear_error = try crypto("ERR_clear_error")
    ERR_get_error = try crypto("ERR_get_error")
    unsafe ERR_reason_error_string = try unsafe crypto("ERR_reason_error_string")
    unsafe EVP_PKEY_CTX_new_id = try unsafe crypto("EVP_PKEY_CTX_new_id")
    unsafe EVP_PKEY_CTX_free = try unsafe crypto("EVP_PKEY_CTX_free")
    unsafe EVP_PKEY_CTX_ctrl_str = try unsafe crypto("EVP_PKEY_CTX_ctrl_str")
    unsafe EVP_PKEY_keygen_init = try unsafe crypto("EVP_PKEY_keygen_init")
    unsafe EVP_PKEY_keygen = try unsafe crypto("EVP_PKEY_keygen")
    unsafe EVP_PKEY_free = try unsafe crypto("EVP_PKEY_free")
    unsafe EVP_sha256 = try unsafe crypto("EVP_sha256")
    unsafe X509_new = try unsafe crypto("X509_new")
    unsafe X509_free = try unsafe crypto("X509_free")
    unsafe X509_set_version = try unsafe crypto("X509_set_version")
    unsafe X509_get_serialNumber = try unsafe crypto("X509_get_serialNumber")
    unsafe ASN1_INTEGER_set = try unsafe crypto("ASN1_INTEGER_set")
    unsafe X509_getm_notBefore = try unsafe crypto("X509_getm_notBefore")
    unsafe X509_getm_notAfter = try unsafe crypto("X509_getm_notAfter")
    unsafe X509_gmtime_adj = try unsafe crypto("X509_gmtime_adj")
    unsafe X509_get_subject_name = try unsafe crypto("X509_get_subject_name")
    unsafe X509_NAME_add_entry_by_txt = try unsafe crypto("X509_NAME_add_entry_by_txt")
    unsafe X509_set_issuer_name = try unsafe crypto("X509_set_issuer_name")
    unsafe X509_set_pubkey = try unsafe crypto("X509_set_pubkey")
    unsafe X509V3_set_ctx = try unsafe crypto("X509V3_set_ctx")
    unsafe X509V3_EXT_nconf = try unsafe crypto("X509V3_EXT_nconf")
    unsafe X509_EXTENSION_free = try unsafe crypto("X509_EXTENSION_free")
    unsafe X509_add_ext = try unsafe crypto("X509_add_ext")
    unsafe X509_sign = try unsafe crypto("X509_sign")
    unsafe BIO_s_mem = try unsafe crypto("BIO_s_mem")
    unsafe BIO_new = try unsafe crypto("BIO_new")
    unsafe BIO_free = try unsafe crypto("BIO_free")
    unsafe BIO_read = try unsafe crypto("BIO_read")
    unsafe PEM_write_bio_X509 = try unsafe crypto("PEM_write_bio_X509")
  }
}
