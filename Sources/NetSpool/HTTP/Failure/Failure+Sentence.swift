internal import CNetSpoolCurl
internal import Glibc

extension Failure {
  /// One line for people: the code, the cause, the C library's number and name, the URL without secrets.
  var sentence: String {
    var text = code.rawValue
    if let reason { text += " (\(Redaction.printable(reason)))" }
    if let underlying { text += ", \(underlying.sentence)" }
    if let url { text += ", \(Redaction.standard.url(url))" }
    return text
  }
}

extension Failure.Underlying {
  fileprivate var sentence: String {
    switch self {
    case .curl(let code):
      "curl \(code): \(unsafe String(cString: curl_easy_strerror(CURLcode(rawValue: UInt32(code)))))"
    case .uv(let code): "uv \(code)"
    case .lmdb(let code): "lmdb \(code)"
    case .errno(let code): "errno \(code): \(unsafe String(cString: strerror(code)))"
    case .http(let status): "HTTP \(status)"
    }
  }
}
