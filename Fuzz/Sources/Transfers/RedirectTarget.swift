@testable import NetSpool

/// A chain of redirects by two origins that are up to no good: no byte of a credential reaches any origin but
/// the one that it is for.
///
/// Input: a byte of choices, then the answers, each ended by a NUL. `PORT` in them becomes the port.
enum RedirectTarget {
  private static let secret = "s3cr3t-w0rd"
  private static let client = Client { configuration in
    configuration.allowsCredentialsInClear = true
    configuration.cookies = .inMemory
    configuration.redirects = .atMost(6)
    configuration.credentials = .bearer("\(secret)-of-engine")
    configuration.headers = ["X-Engine-Key": "\(secret)-of-engine"]
  }
  private static let home = "127.0.0.1:\(client.origin.port)"

  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choices = input.byte()
    let script = input.rest.split(separator: 0, maxSplits: 7, omittingEmptySubsequences: true)
      .map { withPort(Array($0)) }
    guard !script.isEmpty, script.allSatisfy(staysHere) else { return }
    client.origin.play(script)
    _ = client.end(of: operation(choices))
    for request in client.origin.requests { check(request) }
  }

  private static func operation(_ choices: UInt8) -> NetworkOperation {
    let operation = client.engine.operation(
      path: "/start", method: choices & 1 == 0 ? .get : .post)
    operation.setHeader("X-Api-Key", secret).setHeader("Cookie", "a=\(secret)")
    operation.setHeader("Proxy-Authorization", "Basic \(secret)")
    if choices & 2 != 0 { operation.setAuthorization(secret) }
    if choices & 4 != 0 { operation.setCredentials(user: "me", password: secret, preemptive: true) }
    if choices & 8 != 0 { operation.setCredentials(.digest(user: "me", password: secret)) }
    return operation
  }

  /// Fields only: what a body holds goes where the caller lets redirects take it, which is nowhere else.
  private static func check(_ request: [UInt8]) {
    let text = String(decoding: request, as: UTF8.self)
    let lines = text.split(separator: "\r\n")
    require(lines.first?.hasSuffix(" HTTP/1.1") == true, "it is one request")
    let hosts = lines.filter { $0.lowercased().hasPrefix("host:") }
    require(hosts.count == 1, "with one host")
    if hosts.first.map({ $0.dropFirst(5).trimmed }) == home { return }
    require(!text.contains(secret), "no credential goes to another origin: \(text)")
    // Base64 of `me:s3cr3t-w0rd`, and what only this origin's credential makes.
    require(!text.contains("bWU6czNjcjN0LXcwcmQ="), "not in Base64 either: \(text)")
    require(
      !lines.contains { $0.lowercased().hasPrefix("authorization:") }, "nor an answer made from it: \(text)")
  }

  // MARK: The script

  private static func withPort(_ bytes: [UInt8]) -> [UInt8] {
    let (mark, port) = (Array("PORT".utf8), Array(String(client.origin.port).utf8))
    var output: [UInt8] = []
    var rest = bytes[...]
    while let first = rest.first {
      if rest.starts(with: mark) {
        output += port
        rest = rest.dropFirst(mark.count)
      } else {
        output.append(first)
        rest = rest.dropFirst()
      }
    }
    return output
  }

  /// Nothing in it leads off this machine, nor to a name that would have to be resolved.
  private static func staysHere(_ bytes: [UInt8]) -> Bool {
    guard let wire = WireReader(bytes) else { return true }
    return wire.head.headers.all("location").allSatisfy { location in
      guard let url = try? URLParser.parse(location, relativeTo: "http://\(home)/") else { return true }
      return url.pieces.origin.isLoopback
    }
  }
}

extension StringProtocol {
  fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
