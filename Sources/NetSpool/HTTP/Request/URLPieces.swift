/// The pieces of an absolute URL that decisions need, as `URLParser` gave them.
///
/// One parser for all decisions: this type never takes a URL apart itself. User name, password and
/// fragment are not part of it, so they can be neither sent nor logged.
struct URLPieces: Sendable, Hashable {
  /// Scheme, host and port: who may see a credential (RFC 9110 section 4.3.1).
  struct Origin: Sendable, Hashable {
    let scheme: String
    let host: String
    let port: Int
  }

  let origin: Origin
  /// The path and the query with its `?`; begins with `/`.
  let pathAndQuery: String

  /// Scheme and host are compared without case, so they are kept in lower case (RFC 3986 section
  /// 6.2.2.1). `port` is the one in effect: 443 for https when the URL names none. An IPv6 host keeps
  /// its brackets.
  init(scheme: String, host: String, port: Int, pathAndQuery: String) {
    origin = Origin(scheme: scheme.lowercased(), host: host.lowercased(), port: port)
    self.pathAndQuery = pathAndQuery.isEmpty ? "/" : pathAndQuery
  }

  var scheme: String { origin.scheme }
  var host: String { origin.host }
  var port: Int { origin.port }

  /// The whole URL; a default port is left out.
  var text: String { origin.text + pathAndQuery }
}

extension URLPieces.Origin {
  /// `localhost` (RFC 6761 section 6.3), 127.0.0.0/8 or ::1.
  var hostIsLoopback: Bool {
    host == "localhost" || host == "[::1]" || (hostIsAddress && host.hasPrefix("127."))
  }

  /// An IPv4 or IPv6 address: there is no name to resolve.
  var hostIsAddress: Bool {
    host.hasPrefix("[") || host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
  }

  /// On this machine, whatever the network does (RFC 5735 section 3, RFC 4291 section 2.5.3, RFC 6761 section 6.3).
  var isLoopback: Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
      || (hostIsAddress && host.hasPrefix("127."))
  }

  var text: String {
    hasDefaultPort ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
  }

  private var hasDefaultPort: Bool {
    (scheme == "https" && port == 443) || (scheme == "http" && port == 80)
  }
}
