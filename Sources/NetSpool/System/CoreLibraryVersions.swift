internal import CNetSpoolCurl
internal import CNetSpoolLMDB
internal import CNetSpoolUV
internal import CNetSpoolZlib

/// The C libraries as they are loaded, which need not be those that the program was built with.
enum CoreLibraryVersions {
  /// curl_version_info(3).
  static var curl: String { unsafe text(info?.version) ?? "unknown" }
  /// libcurl can answer NTLM; newer distributions build it without.
  static var hasNTLM: Bool { has(CURL_VERSION_NTLM) }

  /// An easy handle that is used again still points to the last field of the exchange before.
  ///
  /// So it is in libcurl 7.83.0 to 8.1.0. The field is freed when the next exchange begins, and written through when
  /// the first field line of that answer begins with a blank (curl issue 11101): such a line must not reach it.
  static let keepsFreedField = unsafe (0x07_53_00..<0x08_01_01).contains(info?.version_num ?? 0)

  private static func has(_ feature: Int32) -> Bool { unsafe (info?.features ?? 0) & feature != 0 }

  /// The TLS library inside libcurl.
  static var tls: String? { unsafe text(info?.ssl_version) }
  /// The HTTP/2 library inside libcurl.
  static var http2: String? { unsafe text(info?.nghttp2_version).map { "nghttp2/\($0)" } }
  static var uv: String { unsafe String(cString: uv_version_string()) }
  static var zlib: String { unsafe String(cString: zlibVersion()) }
  static var lmdb: String {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    unsafe _ = mdb_version(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }

  /// The seventh edition of the structure is the first with nghttp2, and older than any libcurl we run with.
  private static var info: curl_version_info_data? {
    unsafe curl_version_info(CURLVERSION_SEVENTH).map { unsafe $0.pointee }
  }

  private static func text(_ words: UnsafePointer<CChar>?) -> String? {
    unsafe words.map { unsafe String(cString: $0) }
  }
}
