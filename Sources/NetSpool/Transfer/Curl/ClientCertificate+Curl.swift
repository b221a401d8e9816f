internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

extension ClientCertificate {
  /// Files are read by the TLS library when it connects; one that it cannot use ends with
  /// CURLE_SSL_CERTPROBLEM.
  func apply(to easy: UnsafeMutableRawPointer) {
    unsafe cnetspool_easy_set_string(easy, CURLOPT_SSLCERT, path)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_SSLCERTTYPE, isPKCS12 ? "P12" : "PEM")
    if let key { unsafe cnetspool_easy_set_string(easy, CURLOPT_SSLKEY, key) }
    // An empty one, too: without it OpenSSL would ask on the terminal.
    unsafe cnetspool_easy_set_string(easy, CURLOPT_KEYPASSWD, password?.revealed ?? "")
  }

  /// By its first byte: DER begins with a SEQUENCE, PEM with a dash or a comment.
  private var isPKCS12: Bool {
    var byte: UInt8 = 0
    let file = try? FileDescriptor(opening: path, flags: O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard let file else { return false }
    return unsafe withUnsafeMutableBytes(of: &byte) { unsafe (try? file.read(into: $0)) == 1 } && byte == 0x30
  }
}
