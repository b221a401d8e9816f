internal import CNetSpoolCurl
internal import CNetSpoolShims

/// What a handle is given once, for its whole life.
package struct HandleSettings: Sendable, Hashable {
  /// 16 KiB suits thumbnails; large bodies want more (CURLOPT_BUFFERSIZE).
  package var receiveBufferBytes = 16 << 10
  package var tls = TLSSettings()
  /// `http://host:port` or `socks5h://…`; nil is none, whatever the environment says.
  package var proxy: String?
  package var allowsHTTP2 = true

  package init() {}

  /// For bodies that go to streams, which are the long ones; a short body touches only its beginning.
  static let streamBufferBytes = 64 << 10

  /// Without TLS there is no HTTP/2, and libcurl must know it: a handle that might multiplex waits, with
  /// CURLOPT_PIPEWAIT, until the first connection's first answer has told whether it can.
  func apply(to easy: UnsafeMutableRawPointer, isSecure: Bool) {
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXY, proxy ?? "")
    unsafe cnetspool_easy_set_string(easy, CURLOPT_NOPROXY, "")  // else the environment is searched for it
    unsafe cnetspool_easy_set_long(
      easy, CURLOPT_HTTP_VERSION,
      Int(allowsHTTP2 && isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    unsafe tls.apply(to: easy)
  }
}

/// Who may use a handle again, apart from its origin: it never moves to another engine, whose credentials and
/// trust may differ, and its buffer is only ever as large as it was made.
package struct HandleScope: Sendable, Hashable {
  package let engine: UInt64
  package let streams: Bool
}

/// How the origin proves who it is.
package struct TLSSettings: Sendable, Hashable {
  /// A PEM bundle instead of the system's.
  package var authorities: String?
  /// `sha256//…;sha256//…` (CURLOPT_PINNEDPUBLICKEY).
  package var pinnedPublicKey: String?

  package init() {}

  /// TLS 1.2 or later, forward secrecy and authenticated encryption only.
  private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:!aNULL"

  func apply(to easy: UnsafeMutableRawPointer) {
    unsafe cnetspool_easy_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    unsafe cnetspool_easy_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    unsafe cnetspool_easy_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    unsafe cnetspool_easy_set_string(easy, CURLOPT_SSL_CIPHER_LIST, Self.ciphers)
    if let authorities { unsafe cnetspool_easy_set_string(easy, CURLOPT_CAINFO, authorities) }
    if let pin = pinnedPublicKey { unsafe cnetspool_easy_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pin) }
  }
}
