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

  /// What `check` let pass.
  init(resolve: [String: [String]], unixSocket: String?, interfaces: InterfaceRule? = nil) {
    var addresses: [String: [String]] = [:]
    for (name, list) in resolve {
      addresses[name.lowercased()] = list.map { $0.contains(":") && !$0.hasPrefix("[") ? "[\($0)]" : $0 }
    }
    self.addresses = addresses
    self.unixSocket = unixSocket
    self.interfaces = interfaces
  }

  var isDirect: Bool { addresses.isEmpty && unixSocket == nil }

  /// What the caller says of a host; nil: nothing.
  func addresses(of host: String, port: Int) -> [String]? {
    if addresses.isEmpty { return nil }
    return addresses["\(host):\(port)"] ?? addresses[host]
  }

  /// True if the way to an origin ends on this machine.
  func isLoopback(_ origin: URLPieces.Origin) -> Bool {
    if unixSocket != nil { return true }
    guard let addresses = addresses(of: origin.host, port: origin.port) else { return origin.isLoopback }
    return addresses.allSatisfy {
      URLPieces.Origin(scheme: origin.scheme, host: $0, port: origin.port).isLoopback
    }
  }

  /// The list for CURLOPT_RESOLVE, whose entries never go; nil when there is nothing to say.
  func entry(for origin: String) -> String? {
    guard !addresses.isEmpty, let pieces = try? URLParser.parse(origin + "/").pieces,
      let list = addresses(of: pieces.host, port: pieces.port)
    else { return nil }
    return "\(pieces.host):\(pieces.port):\(list.joined(separator: ","))"
  }

  /// sun_path of unix(7), with its end.
  private static let socketPathBytesMax = 107

  static func check(resolve: [String: [String]], unixSocket: String?) throws(NetworkError) {
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
