import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Certificates, proxies, sockets and the variables of the environment, as curl's users have them.
@Suite(.ownThreads) struct CurlConnectionTests {
  static let tlsLines = [
    "-s {u}/", "-s -k {u}/", "-sk {u}/x -o out.txt", "-s --cacert ca.pem {u}/", "-s --cacert other.pem {u}/",
    "-s --cacert none.pem {u}/", "-s -k --http1.1 -w '%{http_version}' {u}/",
    "-s -k --http2 -w '%{http_version}' {u}/", "-s -k -w '%{http_version} %{scheme}' {u}/", "-s -k -i {u}/x",
    "-s -k -L {u}/redirect", "-s --cacert ca.pem --resolve localhost:{p}:127.0.0.1 https://localhost:{p}/x",
    "-s --cacert ca.pem --resolve far.example:{p}:127.0.0.1 https://far.example:{p}/x",
    "-s --cacert ca.pem --connect-to localhost:443:127.0.0.1:{p} https://localhost/x",
  ].filter(CurlComparison.isModel)

  @Test(arguments: tlsLines) func `over TLS get does what curl does`(line: String) throws {
    try CurlComparison(speaksTLS: true).expectSame("get", line)
  }

  @Test(
    arguments: [
      (["http_proxy=http://{h}"], "-s http://far.example/page"),
      (["http_proxy={h}"], "-s http://far.example/page"),
      (["http_proxy=http://u:p@{h}"], "-s http://far.example/page"),
      (["http_proxy=http://{h}"], "-s -U a:b http://far.example/page"),
      (["all_proxy=http://{h}"], "-s http://far.example/page"),
      (["ALL_PROXY=http://{h}"], "-s http://far.example/page"),
      (["http_proxy=http://{h}", "all_proxy=http://127.0.0.1:1"], "-s http://far.example/page"),
      (["http_proxy=http://127.0.0.1:1"], "-s {u}/"), (["HTTP_PROXY=http://127.0.0.1:1"], "-s {u}/"),
      (["https_proxy=http://127.0.0.1:1"], "-s {u}/"), (["http_proxy="], "-s {u}/"),
      (["http_proxy=http://127.0.0.1:1", "no_proxy=127.0.0.1"], "-s {u}/"),
      (["http_proxy=http://127.0.0.1:1", "NO_PROXY=a.example,127.0.0.1"], "-s {u}/"),
      (["http_proxy=http://127.0.0.1:1", "no_proxy=*"], "-s {u}/"),
      (["http_proxy=http://127.0.0.1:1", "no_proxy=127.0.0.1"], "-s --noproxy other.example {u}/"),
      (["http_proxy=http://{h}", "no_proxy=example"], "-s http://far.example/page"),
      (["http_proxy=http://127.0.0.1:1"], "-s -x {h} http://far.example/page"),
      (["http_proxy=http://127.0.0.1:1"], "-s -x '' {u}/"),
      (["http_proxy=http://127.0.0.1:1"], "-s --noproxy '*' {u}/"),
    ])
  func `the environment's proxies hold as with curl`(environment: [String], line: String) throws {
    try CurlComparison(environment: environment).expectSame("get", line)
  }

  @Test(
    arguments: [
      (["CURL_CA_BUNDLE=ca.pem"], "-s {u}/"), (["SSL_CERT_FILE=ca.pem"], "-s {u}/"),
      (["CURL_CA_BUNDLE=ca.pem", "SSL_CERT_FILE=other.pem"], "-s {u}/"),
      (["CURL_CA_BUNDLE=other.pem", "SSL_CERT_FILE=ca.pem"], "-s {u}/"),
      (["CURL_CA_BUNDLE=other.pem"], "-s {u}/"), (["SSL_CERT_FILE=other.pem"], "-s {u}/"),
      (["CURL_CA_BUNDLE=other.pem"], "-s --cacert ca.pem {u}/"),
      (["CURL_CA_BUNDLE=ca.pem"], "-s --cacert other.pem {u}/"), (["CURL_CA_BUNDLE=none.pem"], "-s {u}/"),
      (["CURL_CA_BUNDLE=none.pem"], "-s -k {u}/"), (["HTTPS_PROXY=http://127.0.0.1:1"], "-s -k {u}/"),
      (["https_proxy=http://127.0.0.1:1", "no_proxy=127.0.0.1"], "-s -k {u}/"),
      (["HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1"], "-s -k {u}/"),
    ])
  func `the environment's authorities hold as with curl`(environment: [String], line: String) throws {
    try CurlComparison(speaksTLS: true, environment: environment).expectSame("get", line)
  }

  @Test(
    .needsSquid,
    arguments: [
      ([], "-s -k -x http://127.0.0.1:{open} {u}/x", 200),
      (["https_proxy=http://127.0.0.1:{open}"], "-s -k {u}/x", 200),
      (["all_proxy=127.0.0.1:{open}"], "-s --cacert ca.pem {u}/x", 200),
      ([], "-s -k -x http://127.0.0.1:{closed} -U user:secret {u}/x", 200),
      ([], "-s -k -x http://user:secret@127.0.0.1:{closed} -o out.txt {u}/x", 200),
      ([], "-s -k -x http://127.0.0.1:{closed} {u}/x", 407),
      ([], "-s -k -x http://127.0.0.1:{closed} -U user:wrong {u}/x", 407),
    ])
  func `a tunnel through a proxy is as with curl`(environment: [String], line: String, status: Int) throws {
    let proxy = try SquidProxy.shared()
    let comparison = CurlComparison(
      speaksTLS: true, environment: environment,
      values: ["open": "\(proxy.openPort)", "closed": "\(proxy.port)"])
    for port in try comparison.expectSame("get", line) {
      let tunnels = try proxy.requests("127.0.0.1:\(port)", count: 1, status: status)
      #expect(tunnels.allSatisfy { $0.method == "CONNECT" } && tunnels.last?.status == status, "\(tunnels)")
    }
  }

  @Test(
    .needsNginx,
    arguments: [
      "-s {n}/hello.txt", "-s -i {n}/hello.txt", "-s -I {n}/hello.txt",
      "-s -D head.txt -o body.txt {n}/hello.txt", "-s -r 0-99 -o part {n}/8k.bin", "-s -r -5 {n}/hello.txt",
      "-s -C - -o new {n}/8k.bin", "-sOR {n}/hello.txt", "-s -L {n}/moved/hello.txt",
      "-s -u user:secret {n}/basic/hello.txt", "-s -f -u user:wrong {n}/basic/hello.txt",
      "-s -z '1 Jan 2000' {n}/hello.txt", "-s -w '%{http_code} %{size_download}' -o /dev/null {n}/8k.bin",
      "-s --compressed -A x {n}/seen", "-s -X PURGE -A x {n}/seen", "-s -f {n}/none",
      "-s --unix-socket {socket} -A x http://localhost/seen",
      "-s --unix-socket {socket2} --http2-prior-knowledge -A x http://localhost/seen",
      "-s --unix-socket none {n}/", "-s --cacert {c}/ca.pem -A x {s}/seen",
      "-s --cacert {c}/ca.pem --http1.1 -A x {s}/seen", "-s --cacert {c}/ca.pem --http2 -A x {s}/seen",
      "-s --cacert {c}/ca.pem -i {s}/hello.txt", "-s --cacert {c}/ca.pem -I {s}/8k.bin",
      "-s --cacert {c}/ca.pem -E {c}/client-with-key.pem -A x {m}/seen",
      "-s --cacert {c}/ca.pem --cert {c}/client.pem --key {c}/client.key -A x {m}/seen",
      "-s --cacert {c}/ca.pem -f -A x {m}/seen", "-s -k --cert {c}/client.pem --key {c}/server.key {m}/seen",
      "-s -k --cert none.pem {m}/seen", "-s -k -E {c}/client-with-key.pem -A x {m}/seen",
      "-s -f {s}/hello.txt",
    ])
  func `at a real nginx get does what curl does`(line: String) throws {
    let server = try NginxServer.shared()
    let values = [
      "n": server.url(""), "s": server.tlsURL(""), "m": server.mutualTLSURL(""), "socket": server.http1Socket,
      "socket2": server.http2Socket, "c": server.certificates.directory,
    ]
    try CurlComparison(values: values).expectSame("get", line)
  }
}
