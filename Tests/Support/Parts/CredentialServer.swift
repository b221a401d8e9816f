import Testing

/// A server that asks for credentials as no web server on this system does: NTLM, one context per connection, and
/// Digest with SHA-256, `-sess` and auth-int. What is at which path, `Tests/Parts/acceptor/acceptor.py` says.
///
/// Its users are `user` with the password `secret` and `other` with `password`, in the domain TESTS and in none.
final class CredentialServer: Sendable {
  /// One line of its log.
  struct Request: Sendable, Hashable {
    /// Equal for requests that shared a connection, from 1.
    let connection: Int
    /// 1 for the first request on its connection.
    let numberOnConnection: Int
    let method: String
    let target: String
    let status: Int
    /// Who it was found to be.
    let user: String?
    /// The first word of `Authorization`.
    let scheme: String?
    let bodyBytes: Int
  }

  let port: UInt16
  private let server: PartServer

  static let isInstalled = PythonModules.isInstalled

  init() throws {
    guard let python = PythonModules.interpreter else { throw PartFailure("the Python modules are missing") }
    let directory = try TestFiles.makeDirectory()
    let users = ["TESTS:user:secret", "TESTS:other:password", ":user:secret", ":other:password"]
    try TestFiles.write((users.joined(separator: "\n") + "\n").utf8, to: directory + "/users")
    server = try PartServer([python, TestFiles.parts + "/acceptor/acceptor.py", directory], in: directory)
    port = try server.readyPort()
  }

  func stop() { server.stop() }

  /// By `localhost` it is another origin.
  func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

  /// The requests so far whose target contains this text, oldest first. A line is written before its answer.
  func requests(_ text: String = "") -> [Request] {
    server.text("access.log").split(separator: "\n").compactMap(Request.init).filter {
      text.isEmpty || $0.target.contains(text)
    }
  }
}

extension CredentialServer.Request {
  fileprivate init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 8, let connection = Int(words[0]), let number = Int(words[1]),
      let status = Int(words[4]), let bytes = Int(words[7])
    else { return nil }
    func word(_ index: Int) -> String? { words[index] == "-" ? nil : String(words[index]) }
    self.init(
      connection: connection, numberOnConnection: number, method: String(words[2]),
      target: String(words[3]), status: status, user: word(5), scheme: word(6), bodyBytes: bytes)
  }
}
