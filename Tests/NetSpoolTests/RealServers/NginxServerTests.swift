import Glibc
import Testing

@testable import TestSupport

@Suite("The web server that other tests rely on", .needsNginx)
struct NginxServerTests {
  @Test func `serves a file and logs it`() throws {
    let server = try NginxServer()
    let answer = try server.exchange("GET /hello.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(answer.hasSuffix("\r\n\r\nhello\n"))
    let logged = try #require(try server.requests().first)
    #expect(logged.target == "/hello.txt" && logged.status == 200 && logged.bodyBytesSent == 6)
    #expect(logged.version == "HTTP/1.1" && logged.numberOnConnection == 1)
  }

  @Test func `serves a range`() throws {
    let server = try NginxServer.shared()
    let answer = try server.exchange(
      "GET /hello.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=1-3\r\nConnection: close\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 206 "))
    #expect(answer.hasSuffix("\r\n\r\nell"))
  }

  @Test func `keeps what is put`() throws {
    let server = try NginxServer()
    let answer = try server.exchange(
      "PUT /upload/new/note HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnote")
    #expect(answer.hasPrefix("HTTP/1.1 201 "))
    #expect(try server.file("upload/new/note") == Array("note".utf8))
  }

  @Test func `compresses text`() throws {
    let server = try NginxServer.shared()
    let answer = try server.exchange(
      "GET /text.txt HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n")
    #expect(answer.contains("\r\nContent-Encoding: gzip\r\n"))
  }

  @Test(arguments: [("localhost", "2"), ("127.0.0.1", "1.1")])
  func `speaks TLS with a certificate of the test authority`(host: String, version: String) throws {
    let server = try NginxServer.shared()
    let result = try ChildProcess.run([
      "curl", "-sS", "--noproxy", "*", "--http\(version)", "--cacert", server.certificates.authority,
      "-w", "%{http_version}", "https://\(host):\(server.tlsPort)/hello.txt",
    ])
    #expect(result.exit == .status(0), "\(String(decoding: result.errors, as: UTF8.self))")
    #expect(String(decoding: result.output, as: UTF8.self) == "hello\n\(version)")
  }

  @Test func `asks for a client certificate`() throws {
    let server = try NginxServer.shared()
    func status(_ options: [String]) throws -> String {
      let arguments =
        ["curl", "-s", "--noproxy", "*", "--cacert", server.certificates.authority] + options
        + ["-o", "/dev/null", "-w", "%{http_code}", server.mutualTLSURL("/hello.txt")]
      return String(decoding: try ChildProcess.run(arguments).output, as: UTF8.self)
    }
    #expect(try status([]) == "400")
    #expect(try status(["--cert", server.certificates.client]) == "200")
    #expect(
      try status(["--cert-type", "P12", "--cert", server.certificates.clientPKCS12 + ":secret"]) == "200")
  }

  @Test func `refuses connections and leaves no files once stopped`() throws {
    let server = try NginxServer()
    let port = server.port
    _ = try server.requests()
    server.stop()
    #expect(throws: PartFailure.self) { try LocalSocket.connected(to: port) }
    #expect(throws: PartFailure.self) { try server.file("hello.txt") }
  }
}

@Suite("Programs that tests start")
struct ChildProcessTests {
  @Test func `answers status output and errors`() throws {
    let result = try ChildProcess.run(
      ["sh", "-c", "echo out; echo err >&2; echo $WORD; exit 7"], environment: ["WORD=a b"])
    #expect(result.exit == .status(7))
    #expect(result.output == Array("out\na b\n".utf8))
    #expect(result.errors == Array("err\n".utf8))
  }

  @Test func `ends by the signal it was sent`() throws {
    let child = try ChildProcess(["cat"])
    child.signal(SIGKILL)
    #expect(child.wait() == .signal(SIGKILL))
  }

  @Test func `echoes until its input ends`() throws {
    let child = try ChildProcess(["cat"])
    try child.write(Array("abc".utf8))
    #expect(try child.output.read(before: .generous) == Array("abc".utf8))
    #expect(child.wait(before: Deadline(after: .zero)) == nil)
    child.closeInput()
    #expect(child.wait() == .status(0))
  }

  @Test func `refuses a program that is not there`() {
    #expect(throws: PartFailure.self) { try ChildProcess(["no-such-program-here"]) }
  }
}
