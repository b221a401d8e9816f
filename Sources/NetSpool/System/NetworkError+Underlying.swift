internal import CNetSpoolCurl
internal import Glibc

extension NetworkError.Underlying {
  /// The number with its name, as the layer below says it.
  var sentence: String {
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
