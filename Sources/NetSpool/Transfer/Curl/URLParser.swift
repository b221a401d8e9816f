/// The one judge of URLs. It is ours and not libcurl's, whose reading changes from version to version
/// (`LibraryDifferences` says how); libcurl gets what this has made of a URL.
enum URLParser {
  /// The canonical pieces of an absolute http or https URL: lower-case scheme and host, addresses written out, the
  /// default port left out, dot segments of the path removed, spaces and non-ASCII percent-encoded, no fragment.
  ///
  /// Escapes stay as they are, `%2e` included. With `base`, a reference is resolved as RFC 3986 section 5.2.2 has it.
  static func parse(_ text: String, relativeTo base: String? = nil) throws(NetworkError) -> ParsedURL {
    var url = try URLReference(text)
    if let base { url = url.resolved(against: try URLReference(base)) }
    guard let scheme = url.scheme else { throw refused("no scheme") }
    guard scheme == "http" || scheme == "https" else {
      throw NetworkError(.invalidURL, cause: .scheme, reason: "scheme \(scheme) is not http or https")
    }
    let authority = try URLAuthority(url.authority ?? [], isSecure: scheme == "https")
    let target = URLReference.withoutDots(url.path) + (url.query.map { [UInt8(ascii: "?")] + $0 } ?? [])
    return ParsedURL(
      pieces: URLPieces(
        scheme: scheme, host: authority.host, port: authority.port, pathAndQuery: escaped(target)),
      user: authority.user, password: authority.password)
  }

  /// Spaces and non-ASCII bytes escaped, as in `URLText.absolute`.
  private static func escaped(_ bytes: [UInt8]) -> String {
    guard bytes.contains(where: { $0 == 0x20 || $0 >= 0x80 }) else {
      return String(decoding: bytes, as: UTF8.self)
    }
    var output: [UInt8] = []
    for byte in bytes {
      if byte == 0x20 || byte >= 0x80 {
        PercentCoding.appendEscape(byte, to: &output)
      } else {
        output.append(byte)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  static func refused(_ reason: String) -> NetworkError { NetworkError(.invalidURL, reason: reason) }
}

/// A URL taken apart. Userinfo is kept aside: it becomes a credential and is never part of a text.
struct ParsedURL: Sendable {
  var pieces: URLPieces
  var user: String?
  var password: String?
}
