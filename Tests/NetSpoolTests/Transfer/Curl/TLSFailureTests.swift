import Testing

@testable import NetSpool

/// The TLS library's verdict and libcurl's sentence as our reason. Numbers: X509_STORE_CTX_get_error(3).
struct TLSFailureTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var curl: Int32
    var verdict = 0
    var message = ""
    var isConnected = false
    var usesProxy = false
    var code = NetworkError.Code.tlsRejected
    var reason: String
    var testDescription: String { "curl \(curl), verdict \(verdict), \(message) is \(reason)" }
  }

  @Test(arguments: [
    Row(curl: 60, verdict: 9, reason: "notYetValid"), Row(curl: 60, verdict: 10, reason: "expired"),
    Row(curl: 60, verdict: 18, reason: "untrusted"), Row(curl: 60, verdict: 19, reason: "untrusted"),
    Row(curl: 60, verdict: 20, reason: "untrusted"), Row(curl: 60, verdict: 24, reason: "untrusted"),
    Row(curl: 60, verdict: 26, reason: "untrusted"), Row(curl: 60, verdict: 47, reason: "untrusted"),
    Row(curl: 60, verdict: 62, reason: "hostMismatch"), Row(curl: 60, verdict: 64, reason: "hostMismatch"),
    Row(curl: 60, verdict: 66, reason: "weak"), Row(curl: 60, verdict: 67, reason: "weak"),
    Row(curl: 60, verdict: 68, reason: "weak"),
    Row(
      curl: 60, message: "SSL: no alternative certificate subject name matches target host name 'a'",
      reason: "hostMismatch"),
    Row(
      curl: 60, message: "SSL: certificate subject name 'b' does not match target host name 'a'",
      reason: "hostMismatch"),
    Row(curl: 35, message: "error:0A00018A:SSL routines::dh key too small", reason: "weak"),
    Row(curl: 35, message: "error:0A00018F:SSL routines::ee key too small", reason: "weak"),
    Row(curl: 35, message: "error:0A000410:SSL routines::sslv3 alert handshake failure", reason: "protocol"),
    Row(curl: 35, message: "error:0A00042E:SSL routines::tlsv1 alert protocol version", reason: "protocol"),
    Row(
      curl: 35, message: "error:0A000412:SSL routines::sslv3 alert bad certificate",
      reason: "clientCertificate"),
    Row(
      curl: 56,
      message: "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
      isConnected: true, reason: "clientCertificate"),
    Row(curl: 58, reason: "clientCertificate"), Row(curl: 77, reason: "trustStore"),
    Row(curl: 90, reason: "pinMismatch"),
    Row(
      curl: 56, message: "Received HTTP code 407 from proxy after CONNECT", usesProxy: true,
      code: .proxyFailed,
      reason: "authentication"),
    Row(
      curl: 56, message: "CONNECT tunnel failed, response 502", usesProxy: true, code: .proxyFailed,
      reason: "response"),
    Row(curl: 7, usesProxy: true, code: .proxyFailed, reason: "connect"),
  ]) func `is named`(_ row: Row) {
    let failure = FailureMapping.failure(
      FailureMapping.Evidence(
        code: row.curl, message: row.message, errno: 0, isConnected: row.isConnected, isReused: false,
        hasHeadBegun: false, hasHead: false, verifyResult: row.verdict, usesProxy: row.usesProxy, bytes: 0))
    #expect(failure.code == row.code && failure.reason == row.reason)
    #expect(failure.underlying == .curl(row.curl))
  }
}
