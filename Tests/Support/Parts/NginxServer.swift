import Glibc
import Testing

/// A real nginx for one test, or for many: files under `www/`, and what `Tests/Parts/nginx` configures.
///
/// Its listening sockets are bound here, by the system's choice of port, and inherited by nginx: there is
/// no port to race for, and a connection made at once waits in the backlog instead of being refused.
/// It ends with its last reference, with `stop()`, and with the test process however that dies.
final class NginxServer: Sendable {
  struct Options: Sendable {
    /// How long an idle connection stays open, in seconds.
    var keepAliveSeconds = 60
    /// The speed of `/slow/…`, in bytes per second.
    var slowBytesPerSecond = 65_536
    /// The versions of TLS.
    var tlsProtocols = "TLSv1.2 TLSv1.3"
  }

  let port: UInt16
  /// TLS with HTTP/2 and HTTP/1.1.
  let tlsPort: UInt16
  /// TLS for clients with a certificate only.
  let mutualTLSPort: UInt16
  let certificates: TestCertificates
  /// What a client must trust.
  var authority: String { certificates.authority }
  private let server: PartServer
  private var prefix: String { server.directory }

  static let isInstalled = findProgram("nginx") != nil && findProgram("openssl") != nil

  /// One with the default options, started by the first who asks.
  static func shared() throws -> NginxServer { try sharedServer.get() }

  private static let sharedServer = Result { try NginxServer() }

  init(_ options: Options = Options()) throws {
    guard let program = findProgram("nginx") else { throw PartFailure("nginx is not installed") }
    certificates = try TestCertificates.shared()
    // Given away: only nginx holds them then, and when it is gone, connecting fails.
    let sockets = try (0..<3).map { _ in try LocalSocket.listening() }
    (port, tlsPort, mutualTLSPort) = (sockets[0].port, sockets[1].port, sockets[2].port)
    let prefix = try TestFiles.makeDirectory()
    try Self.fill(
      prefix,
      [
        "PREFIX": prefix, "CERTIFICATES": certificates.directory,
        "USER_LINE": geteuid() == 0 ? "user root;" : "",
        "HTTP_PORT": "\(port)", "HTTPS_PORT": "\(tlsPort)", "MUTUAL_TLS_PORT": "\(mutualTLSPort)",
        "KEEPALIVE_SECONDS": "\(options.keepAliveSeconds)",
        "SLOW_BYTES_PER_SECOND": "\(options.slowBytesPerSecond)", "TLS_PROTOCOLS": options.tlsProtocols,
      ])
    server = try PartServer(
      [program, "-p", prefix + "/", "-c", prefix + "/nginx.conf"], in: prefix, environment: ["NGINX=5;6;7;"],
      sockets: consume sockets)
    if (try? requests()) == nil { throw server.failure("nginx did not start") }
  }

  /// Ends it and removes its files. Connecting is refused afterwards.
  func stop() { server.stop() }

  /// Sockets in the file system: HTTP/1.1, and HTTP/2 without TLS.
  var http1Socket: String { prefix + "/http1" }
  var http2Socket: String { prefix + "/http2" }

  func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
  func tlsURL(_ path: String) -> String { "https://localhost:\(tlsPort)\(path)" }
  func mutualTLSURL(_ path: String) -> String { "https://localhost:\(mutualTLSPort)\(path)" }

  /// Puts a file under `www/`; slashes in the name must name directories that are there.
  func addFile(_ name: String, _ bytes: some Collection<UInt8>) throws {
    try TestFiles.write(bytes, to: "\(prefix)/www/\(name)")
  }

  /// A file under `www/`, uploaded ones too.
  func file(_ name: String) throws -> [UInt8] { try TestFiles.read("\(prefix)/www/\(name)") }

  /// What nginx answered so far, oldest first. The barrier's answer comes after every line of the log
  /// that belongs to an answer sent before: nginx is one thread and writes the line first.
  func requests() throws -> [LoggedRequest] {
    let answer = try exchange("GET /barrier HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    guard answer.hasPrefix("HTTP/1.1 204") else { throw PartFailure("nginx said: \(answer)") }
    let lines = try TestFiles.text(prefix + "/access.log").split(separator: "\n")
    return lines.compactMap(LoggedRequest.init)
  }

  /// Sends bytes over a new plain connection and answers everything up to its end.
  func exchange(_ request: String, before deadline: Deadline = .generous) throws -> String {
    let connection = try LocalSocket.connected(to: port)
    try connection.descriptor.write(Array(request.utf8))
    return String(decoding: try connection.descriptor.readToEnd(before: deadline), as: UTF8.self)
  }

  private static func fill(_ prefix: String, _ values: [String: String]) throws {
    for name in ["nginx.conf", "locations.conf"] {
      try PartServer.fill("nginx/\(name)", values, into: "\(prefix)/\(name)")
    }
    try TestFiles.write("user:{PLAIN}secret\n".utf8, to: prefix + "/passwords")
    for directory in ["www", "www/upload", "temporary"] {
      try TestFiles.makeDirectory("\(prefix)/\(directory)")
    }
    let text = String(repeating: "NetSpool sends them well and keeps what came back.\n", count: 1_000)
    try TestFiles.write("hello\n".utf8, to: prefix + "/www/hello.txt")
    try TestFiles.write(text.utf8, to: prefix + "/www/text.txt")
    try TestFiles.write(TestFiles.noise(8_192), to: prefix + "/www/8k.bin")
    try TestFiles.write(TestFiles.noise(1 << 20), to: prefix + "/www/1m.bin")
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips, and says why, where nginx is not installed.
  static var needsNginx: Self {
    .enabled(if: NginxServer.isInstalled, "nginx or openssl is not installed: CSupport/install --tests")
  }
}
