/// A server that breaks HTTP/2 on purpose, in one way on each of its ports. The ways are the functions of
/// `Tests/Parts/http2/player.py`.
final class HostileHTTP2Server: Sendable {
  /// What a client must trust.
  let authority: String
  private let ports: [String: UInt16]
  private let server: PartServer

  /// One started by the first who asks.
  static func shared() throws -> HostileHTTP2Server { try sharedServer.get() }

  private static let sharedServer = Result { try HostileHTTP2Server() }

  init() throws {
    guard let python = PythonModules.interpreter else { throw PartFailure("the Python modules are missing") }
    let certificates = try TestCertificates.shared().directory
    authority = "\(certificates)/ca.pem"
    let directory = try TestFiles.makeDirectory()
    server = try PartServer(
      [
        python, TestFiles.parts + "/http2/player.py", directory, "\(certificates)/server.pem",
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

  /// The names of all behaviours.
  var behaviours: [String] { ports.keys.sorted() }

  func url(_ behaviour: String) -> String { "https://localhost:\(ports[behaviour] ?? 0)/" }

  /// How many requests came to a behaviour so far. A line is written before anything is answered.
  func requestCount(_ behaviour: String) -> Int {
    server.text("access.log").split(separator: "\n").count { $0.hasPrefix("\(behaviour) ") }
  }
}
