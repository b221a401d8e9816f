import Glibc
import Testing

/// A real Apache httpd for one test, or for many: `/basic/`, `/digest/` and `/stale/` ask for the user `user` with the
/// password `secret`, or `other` with `password`; `/dav/` is WebDAV, and so is `/full/`, on a file system of a megabyte.
final class ApacheServer: Sendable {
  /// One line of its access log.
  struct Request: Sendable, Hashable {
    let method: String
    let target: String
    let status: Int
    /// 0 for the first request on its connection.
    let numberOnConnection: Int
    /// The client's port: equal for requests that shared a connection.
    let clientPort: Int
    /// Nil for a request that nobody has signed.
    let user: String?
  }

  let port: UInt16
  private let server: PartServer
  private let reservation: LocalSocket

  static let isInstalled = findProgram("apache2") != nil && modules != nil && findProgram("unshare") != nil

  /// One started by the first who asks.
  static func shared() throws -> ApacheServer { try sharedServer.get() }

  private static let sharedServer = Result { try ApacheServer() }

  private static let modules = ["/usr/lib/apache2/modules", "/usr/lib64/httpd/modules"].first {
    unsafe access($0 + "/mod_dav_fs.so", R_OK) == 0
  }

  init() throws {
    guard let program = findProgram("apache2"), let modules = Self.modules else {
      throw PartFailure("apache2 is not installed")
    }
    let directory = try TestFiles.makeDirectory()
    reservation = try LocalSocket.reserved()
    port = reservation.port
    // Workers of a server that root starts are nobody, and must get at their files.
    let isRoot = geteuid() == 0
    try Self.fill(directory, port, modules, isRoot)
    if isRoot { _ = try ChildProcess.run(["chown", "-R", "nobody", directory]) }
    server = try PartServer(
      ["unshare", isRoot ? "-m" : "-rm", TestFiles.parts + "/apache/run", program, directory], in: directory)
    try server.waitForPort(port)
  }

  func stop() { server.stop() }

  func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// What it answered to requests whose target contains this text, oldest first, once there are so many.
  func requests(_ text: String, count: Int) throws -> [Request] {
    func chosen(_ lines: [Substring]) -> [Request] {
      lines.compactMap(Request.init).filter { $0.target.contains(text) }
    }
    return chosen(try server.lines("access.log") { chosen($0).count >= count })
  }

  private static func fill(_ directory: String, _ port: UInt16, _ modules: String, _ isRoot: Bool) throws {
    for name in ["www", "www/basic", "www/digest", "www/stale", "www/dav", "www/full", "dav"] {
      try TestFiles.makeDirectory("\(directory)/\(name)")
    }
    for name in ["hello.txt", "basic/hello.txt", "digest/hello.txt", "stale/hello.txt"] {
      try TestFiles.write("hello\n".utf8, to: "\(directory)/www/\(name)")
    }
    // As htpasswd(1) and htdigest(1) write them: SHA-1, and MD5 of user:realm:password.
    try TestFiles.write(
      """
      user:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=
      other:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=

      """.utf8, to: directory + "/passwords")
    try TestFiles.write(
      """
      user:tests:cb580ba4176a72838aa9419f312a44a9
      other:tests:fcf0e4f6b8cd9e417704e4b12bae29eb

      """.utf8, to: directory + "/digests")
    try PartServer.fill(
      "apache/httpd.conf",
      [
        "DIRECTORY": directory, "PORT": "\(port)", "MODULES": modules,
        "USER_LINES": isRoot ? "User nobody\nGroup nogroup" : "",
      ], into: directory + "/httpd.conf")
  }
}

extension ApacheServer.Request {
  fileprivate init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 6, let status = Int(words[2]), let number = Int(words[3]), let port = Int(words[4])
    else { return nil }
    self.init(
      method: String(words[0]), target: String(words[1]), status: status, numberOnConnection: number,
      clientPort: port, user: words[5] == "-" ? nil : String(words[5]))
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips, and says why, where Apache httpd is not installed.
  static var needsApache: Self {
    .enabled(if: ApacheServer.isInstalled, "apache2 or unshare is not installed: CSupport/install --tests")
  }
}
