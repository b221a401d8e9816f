import Glibc
import Testing

@testable import NetSpool

/// libcurl's number and what was seen beside it, as our word. Numbers: libcurl-errors(3).
struct FailureMappingTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var curl: Int32
    var code: NetworkError.Code
    var reason: String?
    var message = ""
    var errno: Int32 = 0
    var refused = false
    var isConnected = false
    var isReused = false
    var hasHeadBegun = false
    var hasHead = false
    var resendRefused = false
    var testDescription: String { "curl \(curl) errno \(errno) is \(code)" }

    var failure: NetworkError {
      FailureMapping.failure(
        FailureMapping.Evidence(
          code: curl, message: message, errno: errno, socketRefused: refused, isConnected: isConnected,
          isReused: isReused, hasHeadBegun: hasHeadBegun, hasHead: hasHead, resendRefused: resendRefused,
          bytes: 7, bytesExpected: 10))
    }
  }

  @Test(arguments: [
    Row(curl: 3, code: .invalidURL),
    Row(curl: 6, code: .resolveFailed, reason: "notFound"),
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
    Row(
      curl: 60, code: .tlsRejected, reason: "expired",
      message: "SSL certificate problem: certificate has expired"),
    Row(curl: 77, code: .tlsRejected, reason: "trustStore"),
    Row(curl: 90, code: .tlsRejected, reason: "pinMismatch"),
    Row(curl: 58, code: .tlsRejected, reason: "clientCertificate"),
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
