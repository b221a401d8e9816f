import Glibc
import Testing

/// A real squid: an HTTP proxy, with CONNECT, to servers on this machine only. On its one port everybody may, on the other
/// one `user` and `another` with the password `secret`. Squid 5 knows one state per user of Digest, whoever asks: who tries
/// a wrong password while the same user signs in may get through.
final class SquidProxy: Sendable {
  /// One line of its access log.
  struct Request: Sendable, Hashable {
    /// `CONNECT` for a tunnel.
    let method: String
    /// A URL, or the host and port of a tunnel.
    let target: String
    let status: Int
    let user: String?
    /// The client's port: equal for requests that shared a connection.
    let clientPort: Int
  }

  /// Asks for credentials.
  let port: UInt16
  /// Asks nobody.
  let openPort: UInt16
  private let server: PartServer
  private let reservations: [LocalSocket]

  static let isInstalled = findProgram("squid") != nil && helpers != nil

  /// The folder of its programs.
  private static let helpers = ["/usr/lib/squid", "/usr/lib64/squid", "/usr/libexec/squid"]
    .first { unsafe access($0 + "/basic_ncsa_auth", X_OK) == 0 }

  /// One started by the first who asks.
  static func shared() throws -> SquidProxy { try sharedProxy.get() }

  private static let sharedProxy = Result { try SquidProxy() }

  init() throws {
    guard let program = findProgram("squid"), let helpers = Self.helpers else {
      throw PartFailure("squid is not installed")
    }
    reservations = try (0..<2).map { _ in try LocalSocket.reserved() }
    (port, openPort) = (reservations[0].port, reservations[1].port)
    let directory = try TestFiles.makeDirectory()
    // As `openssl passwd -apr1` makes it of "secret".
    try TestFiles.write(
      ["user", "another"].flatMap { "\($0):$apr1$netspool$JiRqWkVAgp87eEpAA7B.R1\n".utf8 },
      to: directory + "/passwords")
    try TestFiles.write("user:secret\nanother:secret\n".utf8, to: directory + "/digests")
    try TestFiles.write("127.0.0.1 localhost\n".utf8, to: directory + "/hosts")
    // A squid that root starts becomes another user, who must get at its files.
    let isRoot = geteuid() == 0
    try PartServer.fill(
      "squid/squid.conf",
      [
        "DIRECTORY": directory, "HELPERS": helpers, "PORT": "\(port)", "OPEN_PORT": "\(openPort)",
        "USER_LINE": isRoot ? "cache_effective_user nobody" : "",
      ], into: directory + "/squid.conf")
    if isRoot { _ = try ChildProcess.run(["chown", "-R", "nobody", directory]) }
    server = try PartServer([program, "-N", "-f", directory + "/squid.conf"], in: directory)
    for port in [port, openPort] { try server.waitForPort(port) }
  }

  func stop() { server.stop() }

  /// What it answered to requests whose target ends with this text, oldest first, once there are so many, of
  /// this status if one is given.
  func requests(_ text: String, count: Int, status: Int? = nil) throws -> [Request] {
    func chosen(_ lines: [Substring]) -> [Request] {
      lines.compactMap(Request.init).filter { $0.target.hasSuffix(text) }
    }
    return chosen(
      try server.lines("access.log") { lines in
        chosen(lines).count { status == nil || $0.status == status } >= count
      })
  }
}

extension SquidProxy.Request {
  fileprivate init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 5, let status = Int(words[2]), let port = Int(words[4]) else { return nil }
    self.init(
      method: String(words[0]), target: String(words[1]), status: status,
      user: words[3] == "-" ? nil : String(words[3]), clientPort: port)
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips, and says why, where squid is not installed.
  static var needsSquid: Self {
    .enabled(if: SquidProxy.isInstalled, "squid is not installed: CSupport/install --tests")
  }
}
