import Glibc
import Testing

/// A real dante: a SOCKS5 proxy to servers on this machine only. It knows `user` with the password `secret`.
final class DanteProxy: Sendable {
  let port: UInt16
  private let server: PartServer
  private let reservation: LocalSocket

  static let isInstalled = findProgram("danted") != nil && findProgram("unshare") != nil

  /// - Parameter isOpen: lets everybody through; else only those who sign in.
  init(isOpen: Bool) throws {
    guard let program = findProgram("danted") else { throw PartFailure("danted is not installed") }
    reservation = try LocalSocket.reserved()
    port = reservation.port
    let directory = try TestFiles.makeDirectory()
    let isRoot = geteuid() == 0
    try Self.addUsers(directory)
    try PartServer.fill(
      "dante/danted.conf",
      [
        "DIRECTORY": directory, "PORT": "\(port)", "METHODS": isOpen ? "username none" : "username",
        "USER": isRoot ? "nobody" : "root",
      ], into: directory + "/danted.conf")
    server = try PartServer(
      ["unshare", isRoot ? "-m" : "-rm", TestFiles.parts + "/dante/run", program, directory], in: directory)
    try server.waitForPort(port)
  }

  func stop() { server.stop() }

  /// The lines of its log that tell of a connection passed on to this port, once there are so many.
  func connections(to port: Int, count: Int) throws -> [Substring] {
    func chosen(_ lines: [Substring]) -> [Substring] {
      lines.filter { $0.contains("pass(1): tcp/connect [") && $0.hasSuffix(" 127.0.0.1.\(port)") }
    }
    return chosen(try server.lines("danted.log") { chosen($0).count >= count })
  }

  /// The system's users as dante sees them: passwd(5) and shadow(5).
  private static func addUsers(_ directory: String) throws {
    let users = """
      root:x:0:0::/:/bin/sh
      nobody:x:65534:65534::/:/bin/false
      user:x:60001:60001::/:/bin/false

      """
    // As `openssl passwd -6` makes it of "secret".
    let hash =
      "$6$netspool$ZGbkYB66ev0t12ycWiV3JZH0VbtRS9LnNHPwnbMtSeBp8NsRqmhST4Dnz0mVjbXAGd3WSmxLhtR3JLaho4pKB."
    try TestFiles.write(users.utf8, to: directory + "/passwd")
    try TestFiles.write("user:\(hash):19000:0:99999:7:::\n".utf8, to: directory + "/shadow")
    // dante reads the one after it has become another user.
    for name in ["", "/passwd"] where unsafe chmod(directory + name, 0o755) != 0 {
      throw PartFailure("chmod: errno \(errno)")
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips, and says why, where dante is not installed.
  static var needsDante: Self {
    .enabled(if: DanteProxy.isInstalled, "danted or unshare is not installed: CSupport/install --tests")
  }
}
