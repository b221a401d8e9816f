import Glibc
import Testing

/// A real SOCKS5 proxy to servers on this machine: dante, which Debian 13 no longer has, else microsocks. It knows `user`
/// with the password `secret`.
final class SocksProxy: Sendable {
  /// One connection that it passed on.
  struct Connection: Sendable, Hashable {
    let port: Int
    /// Who it was passed on for. microsocks does not write it down, but knows nobody else.
    let user: String?
  }

  let port: UInt16
  private let isOpen: Bool
  private let isDante: Bool
  private let server: PartServer
  private let reservation: LocalSocket

  static let isInstalled =
    (findProgram("danted") != nil && findProgram("unshare") != nil) || findProgram("microsocks") != nil

  /// - Parameter isOpen: lets everybody through; else only those who sign in.
  init(isOpen: Bool) throws {
    self.isOpen = isOpen
    reservation = try LocalSocket.reserved()
    port = reservation.port
    let directory = try TestFiles.makeDirectory()
    if let dante = findProgram("danted"), findProgram("unshare") != nil {
      isDante = true
      server = try Self.startDante(dante, port, isOpen: isOpen, in: directory)
    } else if let microsocks = findProgram("microsocks") {
      isDante = false
      let user = isOpen ? [] : ["-u", "user", "-P", "secret"]
      // It prints its log, where nobody could read it twice.
      server = try PartServer(
        [
          "sh", "-c", "exec \"$@\" 2>'\(directory)/log'", "sh", microsocks, "-i", "127.0.0.1", "-p",
          "\(port)",
        ] + user,
        in: directory)
    } else {
      throw PartFailure("neither danted nor microsocks is installed")
    }
    try server.waitForPort(port)
  }

  func stop() { server.stop() }

  /// Those passed on to this port, once there are so many.
  func connections(to port: Int, count: Int) throws -> [Connection] {
    func chosen(_ lines: [Substring]) -> [Connection] {
      lines.compactMap(connection).filter { $0.port == port }
    }
    return chosen(try server.lines(isDante ? "danted.log" : "log") { chosen($0).count >= count })
  }

  private func connection(_ line: Substring) -> Connection? {
    guard isDante else {
      guard line.contains(": connected to "), let port = line.split(separator: ":").last.flatMap({ Int($0) })
      else { return nil }
      return Connection(port: port, user: isOpen ? nil : "user")
    }
    guard line.contains("pass(1): tcp/connect ["),
      let port = line.split(separator: ".").last.flatMap({ Int($0) })
    else { return nil }
    return Connection(port: port, user: line.contains("username%user@") ? "user" : nil)
  }

  private static func startDante(
    _ program: String, _ port: UInt16, isOpen: Bool, in directory: String
  ) throws -> PartServer {
    let isRoot = geteuid() == 0
    try addUsers(directory)
    try PartServer.fill(
      "dante/danted.conf",
      [
        "DIRECTORY": directory, "PORT": "\(port)", "METHODS": isOpen ? "username none" : "username",
        "USER": isRoot ? "nobody" : "root",
      ], into: directory + "/danted.conf")
    return try PartServer(
      ["unshare", isRoot ? "-m" : "-rm", TestFiles.parts + "/dante/run", program, directory], in: directory)
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
  /// Skips, and says why, where there is no SOCKS proxy.
  static var needsSocksProxy: Self {
    .enabled(
      if: SocksProxy.isInstalled, "neither danted nor microsocks is installed: CSupport/install --tests")
  }
}
