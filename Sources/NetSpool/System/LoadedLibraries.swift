internal import CNetSpoolCurl
internal import CNetSpoolLMDB
internal import CNetSpoolUV
internal import CNetSpoolZlib

extension LibraryVersions {
  static func ask() -> LibraryVersions {
    let info = unsafe LoadedCurl.info
    return LibraryVersions(
      curl: unsafe LoadedCurl.text(info?.version) ?? "unknown",
      tls: unsafe LoadedCurl.text(info?.ssl_version),
      http2: unsafe LoadedCurl.text(info?.nghttp2_version).map { "nghttp2/\($0)" },
      uv: unsafe String(cString: uv_version_string()), lmdb: loadedLMDB,
      zlib: unsafe String(cString: zlibVersion()))
  }

  private static var loadedLMDB: String {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    unsafe _ = mdb_version(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }
}

/// What the libcurl that is loaded can do, which need not be the one that the program was built with.
enum LoadedCurl {
  /// Whether it can answer NTLM; newer distributions build it without.
  static var hasNTLM: Bool { unsafe (info?.features ?? 0) & CURL_VERSION_NTLM != 0 }

  /// An easy handle that is used again still points to the last field of the exchange before.
  ///
  /// So it is in libcurl 7.83.0 to 8.1.0. The field is freed when the next exchange begins, and written through when
  /// the first field line of that answer begins with a blank (curl issue 11101): such a line must not reach it.
  static let keepsFreedField = unsafe (0x07_53_00..<0x08_01_01).contains(info?.version_num ?? 0)

  /// The seventh edition of the structure is the first with nghttp2, and older than any libcurl we run with.
  static var info: curl_version_info_data? {
    unsafe curl_version_info(CURLVERSION_SEVENTH).map { unsafe $0.pointee }
  }

  static func text(_ words: UnsafePointer<CChar>?) -> String? {
    unsafe words.map { unsafe String(cString: $0) }
  }
}
