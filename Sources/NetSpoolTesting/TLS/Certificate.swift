/// A key of its own and a certificate for it, made on the spot.
@safe struct Certificate: ~Copyable {
  private static let day = 86_400

  private let library: OpenSSL
  private let certificate: OpenSSL.Object
  private let key: OpenSSL.Object

  /// A certificate that may sign others, and is signed by itself.
  static func authority(_ library: OpenSSL) throws(OriginError) -> Certificate {
    let made = try Certificate(library, name: "ScriptedOrigin of one test", begins: -day, ends: day)
    try unsafe made.extend(
      [
        ("basicConstraints", "critical,CA:TRUE"), ("keyUsage", "critical,keyCertSign,cRLSign"),
        ("subjectKeyIdentifier", "hash"),
      ], issuer: made.certificate)
    try made.sign(by: made)
    return made
  }

  /// A certificate for a server.
  func issue(for tls: OriginTLS) throws(OriginError) -> Certificate {
    let ends = tls.isExpired ? -3_600 : Self.day
    let made = try Certificate(library, name: tls.names.first ?? "nobody", begins: -Self.day, ends: ends)
    try unsafe made.extend(
      [
        ("basicConstraints", "critical,CA:FALSE"), ("keyUsage", "critical,digitalSignature"),
        ("extendedKeyUsage", "serverAuth"), ("subjectKeyIdentifier", "hash"),
        ("authorityKeyIdentifier", "keyid"), ("subjectAltName", Self.alternatives(tls.names)),
      ], issuer: certificate)
    try made.sign(by: self)
    return made
  }

  private static func alternatives(_ names: [String]) -> String {
    names.map { name in
      let isAddress = name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." }
      return (isAddress ? "IP:" : "DNS:") + name
    }.joined(separator: ",")
  }

  /// A new key on the curve P-256, and a certificate that is not signed yet. Times are seconds from now.
  private init(_ library: OpenSSL, name: String, begins: Int, ends: Int) throws(OriginError) {
    self.library = library
    unsafe certificate = unsafe library.X509_new()
    unsafe key = unsafe library.makeKey()
    guard let certificate = unsafe certificate, let key = unsafe key else {
      throw library.failure("EVP_PKEY_keygen")
    }
    _ = unsafe library.X509_set_version(certificate, 2)
    _ = unsafe library.ASN1_INTEGER_set(
      library.X509_get_serialNumber(certificate), Int.random(in: 1 ... .max))
    _ = unsafe library.X509_gmtime_adj(library.X509_getm_notBefore(certificate), begins)
    _ = unsafe library.X509_gmtime_adj(library.X509_getm_notAfter(certificate), ends)
    let utf8: Int32 = 0x1000
    _ = unsafe library.X509_NAME_add_entry_by_txt(
      library.X509_get_subject_name(certificate), "CN", utf8, name, -1, -1, 0)
    _ = unsafe library.X509_set_pubkey(certificate, key)
  }

  deinit {
    unsafe library.X509_free(certificate)
    unsafe library.EVP_PKEY_free(key)
  }

  /// In the words of OpenSSL's x509v3_config(5).
  private func extend(_ extensions: [(name: String, value: String)], issuer: OpenSSL.Object)
    throws(OriginError)
  {
    // An X509V3_CTX, which has eight words.
    var context = [UInt64](repeating: 0, count: 32)
    for (name, value) in extensions {
      let made = unsafe context.withUnsafeMutableBytes { raw in
        unsafe library.X509V3_set_ctx(raw.baseAddress, issuer, certificate, nil, nil, 0)
        return unsafe library.X509V3_EXT_nconf(nil, raw.baseAddress, name, value)
      }
      guard let made = unsafe made else { throw library.failure("X509V3_EXT_nconf(\(name) = \(value))") }
      _ = unsafe library.X509_add_ext(certificate, made, -1)
      unsafe library.X509_EXTENSION_free(made)
    }
  }

  private func sign(by issuer: borrowing Certificate) throws(OriginError) {
    _ = unsafe library.X509_set_issuer_name(certificate, library.X509_get_subject_name(issuer.certificate))
    guard unsafe library.X509_sign(certificate, issuer.key, library.EVP_sha256()) > 0 else {
      throw library.failure("X509_sign")
    }
  }

  /// Has a context show it. The context keeps a reference of its own.
  func use(in context: OpenSSL.Object) throws(OriginError) {
    guard unsafe library.SSL_CTX_use_certificate(context, certificate) == 1,
      unsafe library.SSL_CTX_use_PrivateKey(context, key) == 1
    else { throw library.failure("SSL_CTX_use_certificate") }
  }

  /// The certificate, without its key.
  var pem: String {
    let memory = unsafe library.BIO_new(library.BIO_s_mem())
    defer { _ = unsafe library.BIO_free(memory) }
    _ = unsafe library.PEM_write_bio_X509(memory, certificate)
    let text = unsafe [UInt8](unsafeUninitializedCapacity: 8_192) { buffer, count in
      unsafe count = Int(max(library.BIO_read(memory, buffer.baseAddress, Int32(buffer.count)), 0))
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension OpenSSL {
  /// A key on the curve P-256, which every client takes; nil when OpenSSL makes none.
  fileprivate func makeKey() -> Object {
    let ellipticCurve: Int32 = 408
    let maker = unsafe EVP_PKEY_CTX_new_id(ellipticCurve, nil)
    defer { unsafe EVP_PKEY_CTX_free(maker) }
    var key: Object = nil
    guard unsafe EVP_PKEY_keygen_init(maker) == 1,
      unsafe EVP_PKEY_CTX_ctrl_str(maker, "ec_paramgen_curve", "P-256") == 1,
      unsafe EVP_PKEY_keygen(maker, &key) == 1
    else { return nil }
    return unsafe key
  }
}
