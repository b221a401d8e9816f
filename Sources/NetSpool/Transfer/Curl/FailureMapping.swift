internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

/// libcurl's code, with what we saw, as our code. libcurl's own number always travels along.
enum FailureMapping {
  struct Evidence: Sendable {
    var code: Int32
    var message: String
    var errno: Int32
    var socketRefused = false
    var isConnected: Bool
    var isReused: Bool
    var hasHeadBegun: Bool
    var hasHead: Bool
    var resendRefused = false
    /// X509_V_ERR_… of the TLS library.
    var verifyResult = 0
    var usesProxy = false
    /// As TLS has agreed.
    var speaksHTTP2 = false
    var bytes: Int64
    var bytesExpected: Int64?
  }

  static func failure(_ seen: Evidence) -> NetworkError {
    var failure = classify(seen)
    if failure.underlying == nil { failure.underlying = .curl(seen.code) }
    failure.sendState = seen.hasHead ? .answered : seen.isConnected ? .maybeProcessed : .notSent
    return failure
  }

  private static func classify(_ seen: Evidence) -> NetworkError {
    if let refusal = proxy(seen) { return refusal }
    if let failure = levelled(seen) { return failure }
    return switch CURLcode(rawValue: UInt32(seen.code)) {
    case CURLE_URL_MALFORMAT: NetworkError(.invalidURL)
    case CURLE_COULDNT_RESOLVE_HOST: NetworkError(.resolveFailed, cause: .notFound)
    case CURLE_COULDNT_RESOLVE_PROXY: NetworkError(.proxyFailed, cause: .connect)
    case CURLE_COULDNT_CONNECT: connect(seen)
    case CURLE_OPERATION_TIMEDOUT: NetworkError(.timedOut, cause: seen.isConnected ? .total : .connect)
    case CURLE_WEIRD_SERVER_REPLY where seen.message.contains("Content-Length"):
      NetworkError(.ambiguousFraming, reason: "lengthDigits")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
      NetworkError(.protocolViolation, reason: seen.message)
    // libcurl's name for a line that its own header list could not take.
    case CURLE_BAD_FUNCTION_ARGUMENT where seen.isConnected: badLine(seen)
    // The connection ended without a byte: the origin, or something on the way, is gone.
    case CURLE_GOT_NOTHING: NetworkError(seen.hasHeadBegun ? .truncatedHeaders : .connectionLost)
    // HTTP/2: the connection ended without a word about this stream.
    case CURLE_PARTIAL_FILE where !seen.hasHead: lost(seen)
    case CURLE_PARTIAL_FILE: truncated(seen)
    case CURLE_RECV_ERROR where seen.message.contains("nghttp2"): broken(seen)
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR: lost(seen)
    case CURLE_SEND_FAIL_REWIND: NetworkError(.connectionLost, reason: "the body cannot be sent again")
    case CURLE_ABORTED_BY_CALLBACK where seen.resendRefused:
      NetworkError(.connectionLost, reason: "on a reused connection, before the answer")
    case CURLE_OUT_OF_MEMORY where seen.isConnected && !seen.hasHead:
      NetworkError(.headersTooLarge, reason: "line")
    case CURLE_OUT_OF_MEMORY: NetworkError(.outOfMemory)
    case CURLE_HTTP2, CURLE_HTTP2_STREAM:
      NetworkError(.http2Failed, reason: seen.message.isEmpty ? wordless : seen.message)
    case CURLE_PROXY: NetworkError(.proxyFailed, cause: .response)
    default: tls(seen) ?? NetworkError(.transportFailed, reason: seen.message)
    }
  }

  /// libcurl has no code for a refused CONNECT; its sentence tells. With a proxy, that is what we connect to.
  private static func proxy(_ seen: Evidence) -> NetworkError? {
    guard seen.usesProxy else { return nil }
    let refusals = ["from proxy after CONNECT", "CONNECT tunnel failed", "Proxy CONNECT", "CONNECT response"]
    if refusals.contains(where: { seen.message.contains($0) }) {
      return NetworkError(.proxyFailed, cause: seen.message.contains("407") ? .authentication : .response)
    }
    if CURLcode(rawValue: UInt32(seen.code)) == CURLE_COULDNT_CONNECT, !seen.socketRefused {
      return NetworkError(.proxyFailed, cause: .connect)
    }
    return nil
  }

  private static func connect(_ seen: Evidence) -> NetworkError {
    if seen.socketRefused, seen.errno == EMFILE || seen.errno == ENFILE {
      return NetworkError(.tooManyOpenFiles, underlying: .errno(seen.errno))
    }
    let cause: NetworkError.Cause =
      switch seen.errno {
      case ENETUNREACH, EHOSTUNREACH, ENETDOWN: .unreachable
      case ECONNRESET: .reset
      case EADDRNOTAVAIL, EADDRINUSE: .addressInUse
      default: .refused
      }
    return NetworkError(.connectFailed, cause: cause)
  }

  private static func badLine(_ seen: Evidence) -> NetworkError {
    seen.message.contains("chunk")
      ? NetworkError(.badChunk, reason: seen.message) : NetworkError(.protocolViolation, reason: "fieldLine")
  }

  static func truncated(_ seen: Evidence) -> NetworkError {
    let expected = seen.bytesExpected.map(String.init) ?? "more"
    return NetworkError(.bodyTruncated, reason: "got \(seen.bytes) of \(expected) bytes")
  }

  /// Libcurl has no sentence where it was told to go and nothing was wrong (RFC 9113 section 6.8), nor, before 8.0, where the
  /// answer and the end of its stream came in one read while the request was being sent.
  private static let wordless = "the server ended the stream or the connection before its answer was read"

  /// nghttp2's own verdict. -902 is libcurl's refusal of a head that has grown too long.
  private static func broken(_ seen: Evidence) -> NetworkError {
    guard seen.message.contains("returned -902") else {
      return NetworkError(.http2Failed, reason: seen.message)
    }
    return NetworkError(.headersTooLarge, reason: seen.hasHead ? "trailers" : "total")
  }

  private static func lost(_ seen: Evidence) -> NetworkError {
    // libcurl has no code of its own for a proxy that answers CONNECT with anything but 2xx.
    if seen.message.hasPrefix("CONNECT tunnel failed") {
      return NetworkError(.proxyFailed, reason: seen.message)
    }
    // libcurl has one code for a lost connection and for a chunk that is none; its sentence tells.
    let chunk = ["hexadecimal", "chunk", "Malformed encoding"]
    if seen.hasHead, chunk.contains(where: { seen.message.contains($0) }) {
      return NetworkError(.badChunk, reason: seen.message)
    }
    // TLS 1.3 refuses a client only after it has let it finish the handshake.
    if refusesClient(seen.message) { return NetworkError(.tlsRejected, cause: .clientCertificate) }
    if seen.hasHeadBegun && !seen.hasHead && seen.errno == 0 { return NetworkError(.truncatedHeaders) }
    return NetworkError(.connectionLost, reason: seen.message.isEmpty ? nil : seen.message)
  }

  private static func tls(_ seen: Evidence) -> NetworkError? {
    switch CURLcode(rawValue: UInt32(seen.code)) {
    case CURLE_SSL_CONNECT_ERROR where [ECONNRESET, EPIPE].contains(seen.errno):
      NetworkError(.connectFailed, cause: .reset)
    case CURLE_SSL_CONNECT_ERROR: NetworkError(.tlsRejected, cause: handshake(seen.message))
    case CURLE_PEER_FAILED_VERIFICATION: NetworkError(.tlsRejected, cause: certificate(seen))
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE: NetworkError(.tlsRejected, cause: .trustStore)
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: NetworkError(.tlsRejected, cause: .pinMismatch)
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT: NetworkError(.tlsRejected, cause: .clientCertificate)
    case CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_ISSUER_ERROR:
      NetworkError(.tlsRejected, reason: "other")
    default: nil
    }
  }

  /// OpenSSL's own words; another TLS library's end as `protocol`.
  private static func handshake(_ message: String) -> NetworkError.Cause {
    if ["too small", "too weak", "too short"].contains(where: { message.contains($0) }) { return .weak }
    return refusesClient(message) ? .clientCertificate : .protocol
  }

  private static func refusesClient(_ message: String) -> Bool {
    ["alert bad certificate", "alert unknown ca", "alert certificate"].contains { message.contains($0) }
  }

  /// Reads the number of OpenSSL's verdict, else libcurl's sentence: host names are compared by libcurl.
  private static func certificate(_ seen: Evidence) -> NetworkError.Cause {
    switch seen.verifyResult {
    case 9: return .notYetValid
    case 10: return .expired
    case 62, 64: return .hostMismatch
    case 66, 67, 68: return .weak
    // libcurl puts 1 there until the chain is judged, which comes after the name.
    case 0, 1: return certificate(seen.message)
    default: return .untrusted
    }
  }

  private static func certificate(_ message: String) -> NetworkError.Cause {
    if message.contains("expired") { return .expired }
    if message.contains("not yet valid") { return .notYetValid }
    // "EE certificate key too weak", "CA signature digest algorithm too weak".
    if message.contains("too weak") { return .weak }
    if message.contains("no alternative certificate") || message.contains("does not match") {
      return .hostMismatch
    }
    return .untrusted
  }
}

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
