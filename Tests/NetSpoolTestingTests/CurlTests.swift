import NetSpoolTesting
import Testing

@testable import TestSupport

/// As another client sees an origin with TLS.
@Suite(
  .threadForEach, .enabled(if: findProgram("curl") != nil, "curl is not installed: CSupport/install --tests"))
struct CurlTests {
  private let origin: ScriptedOrigin
  private let folder: TestFolder
  private let authority: String

  init() throws {
    origin = try ScriptedOrigin(tls: .selfSigned)
    folder = try TestFolder()
    authority = try folder.write("authority.pem", Array(try #require(origin.certificateAuthority).utf8))
  }

  @Test(arguments: [("--http1.1", "HTTP/1.1 body"), ("--http2", "HTTP/2 body")])
  func `curl chooses the version`(_ option: String, _ wanted: String) throws {
    origin.on("/hello") { .text("\($0.version.rawValue) \($0.text)") }
    let result = try Curl.run(option, "--cacert", authority, "-d", "body", origin.url("/hello"))
    #expect(result.output == wanted && result.exit == .status(0))
  }

  @Test func `interim answers and trailers go over HTTP 2`() throws {
    origin.on(
      "/",
      .raw([
        .text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
        .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n"),
      ]))
    let result = try Curl.run("-i", "--cacert", authority, origin.url("/"))
    let words = result.output.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
    #expect(words.prefix(6).elementsEqual(["http/2", "103", "link:", "</a>", "http/2", "200"]), "\(words)")
    // curl writes trailers right behind the body.
    #expect(words.suffix(2).elementsEqual(["abcx-sum:", "7"]), "\(words)")
  }

  /// CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING or CURLE_HTTP2, by its release, and CURLE_HTTP2_STREAM.
  @Test func `a reset ends a stream and a close the connection`() throws {
    origin.enqueue(.hangUp, Answer.text("hello").fault(.reset, at: .requestRead))
    let closed = try Curl.run("--cacert", authority, origin.url("/"))
    #expect([.status(16), .status(18), .status(52)].contains(closed.exit), "\(closed)")
    let reset = try Curl.run("--cacert", authority, origin.url("/"))
    #expect(reset.exit == .status(92), "\(reset)")
  }
}
