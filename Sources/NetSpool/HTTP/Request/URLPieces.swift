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
  /// its brackets, and its zone, whose case is the interface's.
  init(scheme: String, host: String, port: Int, pathAndQuery: String) {
    let zone = host.utf8.firstIndex(of: UInt8(ascii: "%")) ?? host.endIndex
    origin = Origin(scheme: scheme.lowercased(), host: host[..<zone].lowercased() + host[zone...], port: port)
    self.pathAndQuery = pathAndQuery.isEmpty ? "/" : pathAndQuery
  }

  var scheme: String { origin.scheme }
  var host: String { origin.host }
  var port: Int { origin.port }

  /// The whole URL; a default port is left out.
  var text: String { origin.text + pathAndQuery }
}

extension URLPieces.Origin {
  /// An IPv4 or IPv6 address: there is no name to resolve.
  var hostIsAddress: Bool {
    host.hasPrefix("[") || host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
  }

  /// The host is this machine, whatever the network does: `localhost` and the names below it (RFC 6761 section 6.3),
  /// 127.0.0.0/8 and ::1 (RFC 6890 section 2.2), and 127.0.0.0/8 mapped into IPv6 (RFC 4291 section 2.5.5.2).
  ///
  /// libcurl answers these names itself. `localhost.` with a dot at its end is the same name by the RFC, but
  /// libcurl 7.88 asks the system's resolver for it, which may ask the network: so it does not count.
  var isLoopback: Bool {
    if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
    return isLoopback4 || isMappedLoopback
  }

  /// 127 and three more numbers. `127.0.0.1.` is a name, for which a server may be asked.
  private var isLoopback4: Bool {
    host.hasPrefix("127.") && hostIsAddress && host.utf8.split(separator: UInt8(ascii: ".")).count == 4
      && host.utf8.last != UInt8(ascii: ".")
  }

  /// `[::ffff:127.0.0.1]`, or the same in groups: `[::ffff:7f00:1]`. libcurl leaves it as the user wrote it.
  private var isMappedLoopback: Bool {
    guard host.hasPrefix("[::ffff:") else { return false }
    let inner = host.utf8.dropFirst(8).dropLast().split(separator: UInt8(ascii: ":"))
    switch inner.count {
    case 1: return inner[0].starts(with: "127.".utf8)
    case 2: return inner[0].count == 4 && inner[0].starts(with: "7f".utf8)
    default: return false
    }
  }

  /// What goes into `Host` (RFC 9110 section 7.2): a zone means something to this machine alone.
  var hostField: String {
    let name = host.contains("%") ? host.prefix { $0 != "%" } + "]" : host[...]
    return hasDefaultPort ? String(name) : "\(name):\(port)"
  }

  var text: String {
    hasDefaultPort ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
  }

  var hasDefaultPort: Bool { (scheme == "https" && port == 443) || (scheme == "http" && port == 80) }
}
