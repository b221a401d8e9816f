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
