internal import CNetSpoolCurl
internal import CNetSpoolShims

/// Where an engine's connections lead instead of to the addresses of their hosts.
struct ConnectionWay: Sendable, Hashable {
  /// A path that has none of its own.
  static let direct = ConnectionWay(resolve: [:], unixSocket: nil)

  /// By `host` or `host:port` in lower case; IPv6 in brackets.
  let addresses: [String: [String]]
  let unixSocket: String?
  let interfaces: InterfaceRule?
  /// The first that is for an origin counts.
  let detours: [Detour]
  /// Only addresses of IPv4, or of IPv6, count; nil: both.
  let isIPv4: Bool?

  /// What `check` let pass.
  init(
    resolve: [String: [String]], unixSocket: String?, interfaces: InterfaceRule? = nil,
    connectTo: [String] = [], isIPv4: Bool? = nil
  ) {
    var addresses: [String: [String]] = [:]
    for (name, list) in resolve {
      addresses[name.lowercased()] = list.map { $0.contains(":") && !$0.hasPrefix("[") ? "[\($0)]" : $0 }
    }
    self.addresses = addresses
    self.unixSocket = unixSocket
    self.interfaces = interfaces
    (detours, self.isIPv4) = (connectTo.compactMap(Detour.init), isIPv4)
  }

  var isDirect: Bool { addresses.isEmpty && unixSocket == nil && detours.isEmpty }

  /// The host and port to which connections for an origin lead, in the form of one.
  func goal(of origin: URLPieces.Origin) -> URLPieces.Origin {
    detours.lazy.compactMap { $0.goal(of: origin) }.first ?? origin
  }

  /// The same for libcurl (CURLOPT_CONNECT_TO), of a handle that has this origin alone; nil: nowhere else.
  func goal(ofHandleFor origin: String) -> String? {
    guard !detours.isEmpty, let origin = try? URLParser.parse(origin + "/").pieces.origin else { return nil }
    let goal = goal(of: origin)
    return goal == origin ? nil : "::\(goal.host):\(goal.port)"
  }

  /// What the caller says of a host; nil: nothing.
  func addresses(of host: String, port: Int) -> [String]? {
    if addresses.isEmpty { return nil }
    return addresses["\(host):\(port)"] ?? addresses[host]
  }

  /// True if the way to an origin ends on this machine.
  func isLoopback(_ origin: URLPieces.Origin) -> Bool {
    if unixSocket != nil { return true }
    let origin = goal(of: origin)
    guard let addresses = addresses(of: origin.host, port: origin.port) else { return origin.isLoopback }
    return addresses.allSatisfy {
      URLPieces.Origin(scheme: origin.scheme, host: $0, port: origin.port).isLoopback
    }
  }

  /// The list for CURLOPT_RESOLVE, whose entries never go; nil when there is nothing to say.
  func entry(for origin: String) -> String? {
    guard !addresses.isEmpty, let pieces = (try? URLParser.parse(origin + "/").pieces.origin).map(goal),
      let list = addresses(of: pieces.host, port: pieces.port)
    else { return nil }
    return "\(pieces.host):\(pieces.port):\(list.joined(separator: ","))"
  }

  func apply(to easy: UnsafeMutableRawPointer) {
    if let path = unixSocket { unsafe cnetspool_easy_set_string(easy, CURLOPT_UNIX_SOCKET_PATH, path) }
    guard let isIPv4 else { return }
    unsafe cnetspool_easy_set_long(
      easy, CURLOPT_IPRESOLVE, Int(isIPv4 ? CURL_IPRESOLVE_V4 : CURL_IPRESOLVE_V6))
  }

  /// sun_path of unix(7), with its end.
  private static let socketPathBytesMax = 107

  static func check(resolve: [String: [String]], connectTo: [String], unixSocket: String?)
    throws(NetworkError)
  {
    for text in connectTo where Detour(text) == nil {
      throw NetworkError(.invalidConfiguration, cause: NetworkError.Cause("connectTo"), reason: text)
    }
    if let path = unixSocket {
      let isPath = !path.isEmpty && path.utf8.count <= socketPathBytesMax && !path.utf8.contains(0)
      guard isPath, FileStatus.mayBeLent(path, as: .socket) else {
        throw NetworkError(.invalidConfiguration, cause: .unixSocket)
      }
    }
    for (name, list) in resolve {
      guard !list.isEmpty, list.allSatisfy(isAddress), isName(name) else {
        throw NetworkError(.invalidConfiguration, cause: .resolve, reason: "resolve: \(name)")
      }
    }
  }

  private static func isAddress(_ text: String) -> Bool {
    let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
    return unsafe bare.withCString { unsafe InternetAddress(text: $0) != nil }
  }

  /// A host, or a host and a port.
  private static func isName(_ text: String) -> Bool {
    guard let pieces = try? URLParser.parse("http://\(text)/").pieces, pieces.pathAndQuery == "/" else {
      return false
    }
    return text.lowercased() == pieces.host || text.lowercased() == "\(pieces.host):\(pieces.port)"
  }
}

/// Connections for one host and port lead to another, under the old name (CURLOPT_CONNECT_TO).
struct Detour: Sendable, Hashable {
  /// As curl has it: `HOST1:PORT1:HOST2:PORT2`. An empty one of the first two is any, of the others the URL's.
  let text: String
  private let parts: [String]

  /// Nil for what is none.
  init?(_ text: String) {
    var parts = [""]
    var isInside = false
    for character in text {
      if character == "[" || character == "]" { isInside = character == "[" }
      if character == ":", !isInside { parts.append("") } else { parts[parts.count - 1].append(character) }
    }
    let isPort = { (port: String) in port.isEmpty || (1...65_535).contains(Int(port) ?? 0) }
    let isHost = { (host: String) in host.isEmpty || (try? URLParser.parse("http://\(host)/")) != nil }
    guard parts.count == 4, isPort(parts[1]), isPort(parts[3]), isHost(parts[0]), isHost(parts[2]) else {
      return nil
    }
    (self.text, self.parts) = (text, parts.map { $0.lowercased() })
  }

  /// Nil: it is not for this one.
  func goal(of origin: URLPieces.Origin) -> URLPieces.Origin? {
    let isMeant = { (part: String, value: String) in part.isEmpty || part == value }
    guard isMeant(parts[0], origin.host), isMeant(parts[1], "\(origin.port)") else { return nil }
    let host = parts[2].isEmpty ? origin.host : parts[2]
    let port = parts[3].isEmpty ? "\(origin.port)" : parts[3]
    return try? URLParser.parse("\(origin.scheme)://\(host):\(port)/").pieces.origin
  }
}
