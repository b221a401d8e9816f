import Glibc

/// `openssl s_server` for one connection: it prints every byte of a request that reaches it, and sends what it is
/// given, as long as it is alive.
final class TLSServer: Sendable {
  let port: UInt16
  /// What a client must trust.
  let authority: String
  private let server: PartServer

  /// With one certificate of the table and more arguments.
  init(_ certificate: String, _ arguments: [String] = []) throws {
    let certificates = try TLSCertificates.shared()
    let place = certificates.directory
    authority = certificates.authority
    var all = ["-accept", "127.0.0.1:0", "-cert", certificate + ".pem", "-key", certificate + ".key"]
    if unsafe access("\(place)/\(certificate).chain", R_OK) == 0 {
      all += ["-cert_chain", certificate + ".chain"]
    }
    server = try PartServer(
      ["sh", "-c", "cd \"$0\" && exec openssl s_server \"$@\"", place] + all + arguments,
      in: TestFiles.makeDirectory())
    let printed = try server.output(until: { $0.contains("ACCEPT 127.0.0.1:") && $0.hasSuffix("\n") })
    guard let number = printed.split(separator: "ACCEPT 127.0.0.1:").last,
      let port = UInt16(number.prefix { $0.isNumber })
    else { throw PartFailure("s_server printed: \(printed)") }
    self.port = port
  }

  /// What it printed until that has this text.
  func output(until text: String) throws -> String { try server.output(until: { $0.contains(text) }) }

  /// Sends these bytes to the client.
  func send(_ text: String) throws { try server.write(text) }

  /// Dies, so that the connection ends without a word of TLS.
  func kill() { server.kill() }

  /// Ends it; answers everything that it printed since.
  func stop() throws -> String {
    server.stop()
    return try server.remainingOutput()
  }
}
