import Glibc
import Testing

@testable import NetSpool

/// libcurl's number and what was seen beside it, as our word. Numbers: libcurl-errors(3), and of verdicts
/// X509_STORE_CTX_get_error(3).
struct FailureMappingTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var curl: Int32
    var verdict = 0
    var code = NetworkError.Code.tlsRejected
    var reason: String?
    var message = ""
    var errno: Int32 = 0
    var refused = false
    var isConnected = false
    var isReused = false
    var hasHeadBegun = false
    var hasHead = false
    var resendRefused = false
    var usesProxy = false
    var testDescription: String { "curl \(curl) errno \(errno) verdict \(verdict) \(message) is \(code)" }

    var failure: NetworkError {
      FailureMapping.failure(
        FailureMapping.Evidence(
          code: curl, message: message, errno: errno, socketRefused: refused, isConnected: isConnected,
          isReused: isReused, hasHeadBegun: hasHeadBegun, hasHead: hasHead, resendRefused: resendRefused,
          verifyResult: verdict, usesProxy: usesProxy, bytes: 7, bytesExpected: 10))
    }
  }

  @Test(arguments: [
    Row(curl: 3, code: .invalidURL), Row(curl: 6, code: .resolveFailed, reason: "notFound"),
    Row(curl: 5, code: .proxyFailed, reason: "connect"),
    Row(curl: 7, code: .connectFailed, reason: "refused", errno: ECONNREFUSED),
    Row(curl: 7, code: .connectFailed, reason: "unreachable", errno: ENETUNREACH),
    Row(curl: 7, code: .connectFailed, reason: "unreachable", errno: EHOSTUNREACH),
    Row(curl: 7, code: .connectFailed, reason: "reset", errno: ECONNRESET),
    Row(curl: 7, code: .connectFailed, reason: "addressInUse", errno: EADDRNOTAVAIL),
    Row(curl: 7, code: .tooManyOpenFiles, errno: EMFILE, refused: true),
    Row(curl: 7, code: .tooManyOpenFiles, errno: ENFILE, refused: true),
    Row(curl: 28, code: .timedOut, reason: "connect"),
    Row(curl: 28, code: .timedOut, reason: "total", isConnected: true),
    Row(curl: 1, code: .protocolViolation, reason: "m", message: "m"),
    Row(curl: 8, code: .protocolViolation, reason: "m", message: "m", isConnected: true),
    Row(curl: 52, code: .connectionLost, isConnected: true),
    Row(curl: 52, code: .connectionLost, isConnected: true, isReused: true),
    Row(curl: 52, code: .truncatedHeaders, isConnected: true, hasHeadBegun: true),
    Row(
      curl: 18, code: .bodyTruncated, reason: "got 7 of 10 bytes", isConnected: true, hasHeadBegun: true,
      hasHead: true),
    Row(curl: 18, code: .connectionLost, reason: "m", message: "m", isConnected: true),
    Row(curl: 55, code: .connectionLost, isConnected: true),
    Row(
      curl: 56, code: .http2Failed, reason: "nghttp2 returned -904", message: "nghttp2 returned -904",
      isConnected: true),
    Row(
      curl: 56, code: .headersTooLarge, reason: "total", message: "nghttp2 returned -902", isConnected: true),
    Row(
      curl: 56, code: .headersTooLarge, reason: "trailers", message: "nghttp2 returned -902",
      isConnected: true, hasHead: true),
    Row(curl: 56, code: .connectionLost, errno: ECONNRESET, isConnected: true, hasHead: true),
    Row(curl: 56, code: .truncatedHeaders, isConnected: true, hasHeadBegun: true),
    Row(
      curl: 56, code: .badChunk, reason: "Malformed encoding found in chunked-encoding",
      message: "Malformed encoding found in chunked-encoding", isConnected: true, hasHead: true),
    Row(curl: 65, code: .connectionLost, reason: "the body cannot be sent again", isConnected: true),
    Row(
      curl: 42, code: .connectionLost, reason: "on a reused connection, before the answer", isConnected: true,
      resendRefused: true),
    Row(curl: 27, code: .headersTooLarge, reason: "line", isConnected: true),
    Row(curl: 27, code: .outOfMemory),
    Row(curl: 16, code: .http2Failed, reason: "m", message: "m", isConnected: true),
    Row(curl: 92, code: .http2Failed, reason: "m", message: "m", isConnected: true),
    Row(curl: 97, code: .proxyFailed, reason: "response"),
    Row(curl: 35, code: .tlsRejected, reason: "protocol"),
    Row(curl: 35, code: .connectFailed, reason: "reset", errno: ECONNRESET),
    Row(curl: 60, reason: "expired", message: "SSL certificate problem: certificate has expired"),
    Row(curl: 77, reason: "trustStore"), Row(curl: 90, reason: "pinMismatch"),
    Row(curl: 58, reason: "clientCertificate"),
    Row(curl: 60, verdict: 9, reason: "notYetValid"), Row(curl: 60, verdict: 10, reason: "expired"),
    Row(curl: 60, verdict: 18, reason: "untrusted"), Row(curl: 60, verdict: 19, reason: "untrusted"),
    Row(curl: 60, verdict: 20, reason: "untrusted"), Row(curl: 60, verdict: 24, reason: "untrusted"),
    Row(curl: 60, verdict: 26, reason: "untrusted"), Row(curl: 60, verdict: 47, reason: "untrusted"),
    Row(curl: 60, verdict: 62, reason: "hostMismatch"), Row(curl: 60, verdict: 64, reason: "hostMismatch"),
    Row(curl: 60, verdict: 66, reason: "weak"), Row(curl: 60, verdict: 67, reason: "weak"),
    Row(curl: 60, verdict: 68, reason: "weak"),
    Row(
      curl: 60, reason: "hostMismatch",
      message: "SSL: no alternative certificate subject name matches target host name 'a'"),
    Row(
      curl: 60, reason: "hostMismatch",
      message: "SSL: certificate subject name 'b' does not match target host name 'a'"),
    Row(curl: 35, reason: "weak", message: "error:0A00018A:SSL routines::dh key too small"),
    Row(curl: 35, reason: "weak", message: "error:0A00018F:SSL routines::ee key too small"),
    Row(curl: 35, reason: "protocol", message: "error:0A000410:SSL routines::sslv3 alert handshake failure"),
    Row(curl: 35, reason: "protocol", message: "error:0A00042E:SSL routines::tlsv1 alert protocol version"),
    Row(
      curl: 35, reason: "clientCertificate",
      message: "error:0A000412:SSL routines::sslv3 alert bad certificate"),
    Row(
      curl: 56, reason: "clientCertificate",
      message: "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
      isConnected: true),
    Row(
      curl: 56, code: .proxyFailed, reason: "authentication",
      message: "Received HTTP code 407 from proxy after CONNECT", usesProxy: true),
    Row(
      curl: 56, code: .proxyFailed, reason: "response", message: "CONNECT tunnel failed, response 502",
      usesProxy: true),
    Row(curl: 7, code: .proxyFailed, reason: "connect", usesProxy: true),
    Row(curl: 999, code: .transportFailed, reason: "m", message: "m"),
  ]) func `each has its word and keeps its number`(row: Row) {
    let failure = row.failure
    #expect(failure.code == row.code)
    #expect(failure.reason == row.reason)
    let keepsErrno = row.code == .tooManyOpenFiles
    #expect(failure.underlying == (keepsErrno ? .errno(row.errno) : .curl(row.curl)))
    let sent: NetworkError.SendState = row.hasHead ? .answered : row.isConnected ? .maybeProcessed : .notSent
    #expect(failure.sendState == sent)
  }
}
