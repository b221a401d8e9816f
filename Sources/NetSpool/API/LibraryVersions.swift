/// The C libraries below, as they are loaded: for reports and support. They need not be those that the program
/// was built with.
public struct LibraryVersions: Sendable, Hashable {
  /// libcurl: `8.5.0` (curl_version_info(3)).
  public let curl: String
  /// The TLS library inside libcurl: `OpenSSL/3.0.17`; nil without one.
  public let tls: String?
  /// The HTTP/2 library inside libcurl: `nghttp2/1.52.0`; nil without one.
  public let http2: String?
  /// libuv: `1.44.2` (uv_version_string(3)).
  public let uv: String
  /// LMDB: `0.9.24`.
  public let lmdb: String
  /// zlib: `1.2.13`.
  public let zlib: String

  /// Asks the libraries; any thread.
  public static var loaded: LibraryVersions { ask() }
}
