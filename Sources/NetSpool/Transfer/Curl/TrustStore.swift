internal import CNetSpoolCurl
internal import CNetSpoolShims

/// Where the authorities stand that a certificate may come from.
///
/// libcurl keeps the bundle's authorities for a day (CURLOPT_CA_CACHE_TIMEOUT), but only while no folder is named beside
/// it: a folder is looked into for each new connection, which costs 50 ms of the loop's time. Most systems have both, with the same
/// in them, and libcurl is built to use both; so the folder is left out unless somebody asks for it.
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

  func apply(to easy: UnsafeMutableRawPointer, bundle: CURLoption, folder: CURLoption) {
    switch self {
    case .system: unsafe cnetspool_easy_set_string(easy, folder, nil)
    case .files(let bundlePath, let folderPath):
      unsafe cnetspool_easy_set_string(easy, bundle, bundlePath)
      unsafe cnetspool_easy_set_string(easy, folder, folderPath)
    }
  }
}
