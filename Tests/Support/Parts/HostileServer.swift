/// A server that breaks a protocol on purpose, in one way on each of its ports. The ways are the functions of
/// `player.py` in a folder of `Tests/Parts`.
final class HostileServer: Sendable {
  enum Version {
    /// Never ends, or says more than it was asked, without TLS and, where the name begins with `tls_`, with it.
    case http1
    /// Over TLS.
    case http2
  }

  /// What a client must trust.
  let authority: String
  private let version: Version
  private let ports: [String: UInt16]
  private let server: PartServer

  /// For HTTP/2, one started by the first who asks.
  static func sharedHTTP2() throws -> HostileServer { try sharedServer.get() }

  private static let sharedServer = Result { try HostileServer(.http2) }

  /// One of its own: what it counts is then the test's alone.
  ///
  /// - Parameter seed: what follows from chance follows from it.
  init(_ version: Version, seed: UInt64 = 0) throws {
    guard let python = PythonModules.interpreter else { throw PartFailure("the Python modules are missing") }
    self.version = version
    let certificates = try TestCertificates.shared().directory
    authority = "\(certificates)/ca.pem"
    let directory = try TestFiles.makeDirectory()
    server = try PartServer(
      [
        python, "-B", TestFiles.parts + "/\(version)/player.py", directory, "\(certificates)/server.pem",
        "\(certificates)/server.key", "\(seed)",
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

  func url(_ behaviour: String) -> String {
    let isPlain = version == .http1 && !behaviour.hasPrefix("tls_")
    return "\(isPlain ? "http" : "https")://localhost:\(ports[behaviour] ?? 0)/"
  }

  /// Over HTTP/1: waits until all of an answer has been sent, what nobody asked for included.
  func waitUntilSent(_ behaviour: String, connection: Int, number: Int) throws {
    let line = "\(behaviour) \(connection) \(number)"
    _ = try server.lines("sent.log", until: { $0.contains { $0 == line } })
  }

  /// What was noted of each request to a behaviour so far: a line is written before anything is answered. Over HTTP/1
  /// the connection, and the request's number on it.
  func requests(_ behaviour: String) -> [String] {
    server.text("access.log").split(separator: "\n").filter { $0.hasPrefix("\(behaviour) ") }
      .map { String($0.dropFirst(behaviour.count + 1)) }
  }

  /// How many connections have asked for a behaviour so far.
  func connections(_ behaviour: String) -> Int {
    Set(requests(behaviour).map { $0.prefix { $0 != " " } }).count
  }
}
