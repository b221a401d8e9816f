/// A server that never ends, or says more than it was asked, over HTTP/1 with TLS and without, in one way on each of its
/// ports. The ways are the functions of `Tests/Parts/http1/player.py`; with TLS their names begin with `tls_`.
final class HostileHTTP1Server: Sendable {
  /// What a client must trust.
  let authority: String
  private let ports: [String: UInt16]
  private let server: PartServer

  /// One of its own for each: what it counts is then the test's alone.
  init() throws {
    guard let python = PythonModules.interpreter else { throw PartFailure("the Python modules are missing") }
    let certificates = try TestCertificates.shared().directory
    authority = "\(certificates)/ca.pem"
    let directory = try TestFiles.makeDirectory()
    server = try PartServer(
      [
        python, TestFiles.parts + "/http1/player.py", directory, "\(certificates)/server.pem",
        "\(certificates)/server.key",
      ], in: directory)
    let printed = try server.output(until: { $0.hasSuffix("ready\n") })
    ports = Dictionary(
      uniqueKeysWithValues: printed.split(separator: "\n").dropLast().map { line in
        let words = line.split(separator: " ")
        return (String(words[0]), UInt16(words[1]) ?? 0)
      })
  }

  func stop() { server.stop() }

  func url(_ behaviour: String) -> String {
    "\(behaviour.hasPrefix("tls_") ? "https" : "http")://localhost:\(ports[behaviour] ?? 0)/"
  }

  /// Waits until all of an answer has been sent, what nobody asked for included.
  func waitUntilSent(_ behaviour: String, connection: Int, number: Int) throws {
    let line = "\(behaviour) \(connection) \(number)"
    _ = try server.lines("sent.log", until: { $0.contains { $0 == line } })
  }

  /// The connection and the number on it of each request to a behaviour so far.
  func requests(_ behaviour: String) -> [String] {
    server.text("access.log").split(separator: "\n").filter { $0.hasPrefix("\(behaviour) ") }
      .map { String($0.dropFirst(behaviour.count + 1)) }
  }
}
