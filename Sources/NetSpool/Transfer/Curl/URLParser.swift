internal import Glibc

/// The one judge of URLs. It is ours and not libcurl's, whose reading changes from version to version
/// (`Quirks` says how); libcurl gets what this has made of a URL.
enum URLParser {
  /// The canonical pieces of an absolute http or https URL: lower-case scheme and host, addresses written out, the
  /// default port left out, dot segments of the path removed, spaces and non-ASCII percent-encoded, no fragment.
  ///
  /// Escapes stay as they are, but for dot segments, which go however they are written. With `base`, a reference is resolved as RFC 3986 section 5.2.2 has it.
  static func parse(_ text: String, relativeTo base: String? = nil) throws(NetworkError) -> ParsedURL {
    var url = try URLReference(text)
    if let base { url = url.resolved(against: try URLReference(base)) }
    guard let scheme = url.scheme else { throw refused("no scheme") }
    let authority = try URLAuthority(url.authority ?? [], isSecure: scheme == "https")
    let target = URLReference.withoutDots(url.path) + (url.query.map { [UInt8(ascii: "?")] + $0 } ?? [])
    let pieces = URLPieces(
      scheme: scheme, host: authority.host, port: authority.port, pathAndQuery: escaped(target))
    // What was escaped is longer than it was, and what was resolved is of two texts.
    if pieces.pathAndQuery.utf8.count > URLText.bytesMax / 2, pieces.text.utf8.count > URLText.bytesMax {
      throw tooLong
    }
    return ParsedURL(pieces: pieces, user: authority.user, password: authority.password)
  }

  /// Spaces and non-ASCII bytes escaped, as in `URLText.absolute`.
  private static func escaped(_ bytes: [UInt8]) -> String {
    bytes.contains(where: URLText.needsEscape)
      ? PercentCoding.escaped(bytes, where: URLText.needsEscape) : String(decoding: bytes, as: UTF8.self)
  }

  static let tooLong = refused("longer than 8 KiB")
  static func refused(_ reason: String) -> NetworkError { NetworkError(.invalidURL, reason: reason) }
}

/// A URL taken apart. Userinfo is kept aside: it becomes a credential and is never part of a text.
struct ParsedURL: Sendable {
  var pieces: URLPieces
  var user: String?
  var password: String?
}

/// The authority of a URL: `user:password@host:port` (RFC 3986 section 3.2).
struct URLAuthority {
  /// RFC 1035 section 2.3.4: so many letters, and the dot of the root.
  static let hostBytesMax = 253

  /// In lower case and ASCII; an IPv4 address as four plain numbers, an IPv6 address in brackets and as short as it goes.
  var host: String
  var port: Int
  /// Without their escapes.
  var user: String?
  var password: String?

  init(_ text: ArraySlice<UInt8>, isSecure: Bool) throws(NetworkError) {
    var rest = text
    if let at = text.firstIndex(of: UInt8(ascii: "@")) {
      rest = text[(at + 1)...]
      try (user, password) = Self.account(text[..<at])
    }
    let host = try Self.splitPort(&rest)
    port = try Self.port(rest) ?? (isSecure ? 443 : 80)
    self.host = try Self.host(host)
  }

  /// A name or an address and nothing else: no scheme, user, port or path. The error's reason is a sentence.
  static func checkHost(_ text: String) throws(NetworkError) {
    let bytes = Array(text.utf8)
    let inside = bytes.first == UInt8(ascii: "[") ? bytes.prefix { $0 != UInt8(ascii: "]") } : []
    if bytes.isEmpty { throw URLParser.refused("no host") }
    if text.contains("://") { throw URLParser.refused("a URL: give that as `url:`") }
    if bytes.contains(UInt8(ascii: "/")) {
      throw URLParser.refused("a host with a path: `NetworkEngine(url:)` takes both")
    }
    let colons = bytes.dropFirst(inside.count).count { $0 == UInt8(ascii: ":") }
    if colons == 1 { throw URLParser.refused("a host with a port: `NetworkEngine(url:)` takes both") }
    if inside.isEmpty, colons == 0 { return _ = try host(bytes[...]) }
    let address = inside.isEmpty ? bytes[...] : bytes.dropFirst().dropLast()
    _ = try address6(address)
    guard inside.isEmpty || inside.count == bytes.count - 1 else {
      throw URLParser.refused("something behind an IPv6 address")
    }
  }

  private static func account(_ text: ArraySlice<UInt8>) throws(NetworkError) -> (String?, String?) {
    let user = text.prefix { $0 != UInt8(ascii: ":") }
    let password = user.endIndex < text.endIndex ? text[(user.endIndex + 1)...] : nil
    for part in [user, password ?? []] where PercentCoding.decode(part).contains(where: \.isControl) {
      throw URLParser.refused("a control byte in the user name or password")
    }
    func plain(_ part: ArraySlice<UInt8>) -> String {
      String(decoding: PercentCoding.decode(part), as: UTF8.self)
    }
    return (plain(user), password.map(plain))
  }

  /// Takes the host away, brackets included; what is left is the port with its colon, or nothing.
  private static func splitPort(_ rest: inout ArraySlice<UInt8>) throws(NetworkError) -> ArraySlice<UInt8> {
    var end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
    if rest.first == UInt8(ascii: "[") {
      guard let bracket = rest.firstIndex(of: UInt8(ascii: "]")) else {
        throw URLParser.refused("an IPv6 address without its second bracket")
      }
      end = bracket + 1
    }
    let host = rest[..<end]
    rest = rest[end...]
    guard !host.isEmpty else { throw URLParser.refused("no host") }
    return host
  }

  /// Nil for none, also behind a colon (RFC 3986 section 3.2.3).
  private static func port(_ text: ArraySlice<UInt8>) throws(NetworkError) -> Int? {
    guard text.count > 1 || text.first.map({ $0 != UInt8(ascii: ":") }) == true else { return nil }
    var value = 0
    for byte in text.dropFirst() {
      guard byte.isASCIIDigit else { throw URLParser.refused("a port that is no number") }
      value = value * 10 + Int(byte - 0x30)
      guard value <= 65_535 else { throw URLParser.refused("a port above 65535") }
    }
    guard text.first == UInt8(ascii: ":") else { throw URLParser.refused("something behind an IPv6 address") }
    return value
  }

  private static func host(_ text: ArraySlice<UInt8>) throws(NetworkError) -> String {
    if text.first == UInt8(ascii: "[") { return try address6(text.dropFirst().dropLast()) }
    if let address = address4(text) { return address }
    let decoded = PercentCoding.decode(text)
    // Once more, as digits of other scripts become digits.
    if decoded.contains(where: { $0 >= 0x80 }) { return try host(InternationalName.ascii(decoded)[...]) }
    let bytes = decoded.map(\.asciiLowercased)
    // An escape that is left would be undone when the URL is parsed once more, by whoever sends it; the rest of what is
    // refused means something else to some parser.
    guard !bytes.isEmpty, bytes.allSatisfy(\.isUnreserved) else {
      throw URLParser.refused("the host holds something else than letters, digits and -._~")
    }
    guard bytes.count - (bytes.last == UInt8(ascii: ".") ? 1 : 0) <= hostBytesMax else {
      throw URLParser.refused("the host is longer than \(hostBytesMax) bytes")
    }
    let host = String(decoding: bytes, as: UTF8.self)
    guard !PlainURL.isUnwrittenAddress(host) else { throw URLParser.refused("the host is a number") }
    return host
  }

  /// The address in one to four numbers, decimal, octal or hexadecimal, of which the last fills what is left (inet_aton(3)):
  /// nil for anything else, which is a name.
  private static func address4(_ text: ArraySlice<UInt8>) -> String? {
    let labels = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count <= 4 else { return nil }
    var numbers: [UInt64] = []
    for label in labels {
      guard let number = number(label) else { return nil }
      numbers.append(number)
    }
    let last = numbers.removeLast()
    guard numbers.allSatisfy({ $0 <= 255 }), last < 1 << UInt64(8 * (4 - numbers.count)) else { return nil }
    let word = numbers.enumerated().reduce(last) { $0 | $1.element << UInt64(24 - 8 * $1.offset) }
    return [24, 16, 8, 0].map { String(word >> UInt64($0) & 0xFF) }.joined(separator: ".")
  }

  private static func number(_ label: ArraySlice<UInt8>) -> UInt64? {
    guard label.allSatisfy({ $0.isASCIIDigit || $0.isASCIILetter }), label.count <= 20 else { return nil }
    let text = String(decoding: label, as: UTF8.self)
    if text.hasPrefix("0x") || text.hasPrefix("0X") { return UInt64(text.dropFirst(2), radix: 16) }
    return UInt64(text, radix: text.hasPrefix("0") && text.count > 1 ? 8 : 10)
  }

  /// The zone of a link-local address stays (RFC 6874): libcurl takes it to the connection, and leaves it out of `Host`.
  private static func address6(_ whole: ArraySlice<UInt8>) throws(NetworkError) -> String {
    let text = whole.prefix { $0 != UInt8(ascii: "%") }
    let zone = try zone(whole.dropFirst(text.count))
    let address = String(decoding: text, as: UTF8.self)
    var bytes = in6_addr()
    var shortest = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard unsafe inet_pton(AF_INET6, address, &bytes) == 1,
      unsafe inet_ntop(AF_INET6, &bytes, &shortest, socklen_t(shortest.count)) != nil
    else { throw URLParser.refused("not an IPv6 address between the brackets") }
    let canonical = shortest.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return "[" + String(decoding: canonical, as: UTF8.self) + zone + "]"
  }

  private static func zone(_ text: ArraySlice<UInt8>) throws(NetworkError) -> String {
    if text.isEmpty { return "" }
    let name = text.dropFirst(text.starts(with: "%25".utf8) ? 3 : 1)
    // No interface has a longer name (IF_NAMESIZE), and libcurl takes none.
    guard (1...15).contains(name.count), name.allSatisfy(\.isUnreserved) else {
      throw URLParser.refused("not the zone of an IPv6 address")
    }
    return "%25" + String(decoding: name, as: UTF8.self)
  }
}

/// A URL or a relative reference, split at its delimiters (RFC 3986 section 4.1). The fragment is left out.
struct URLReference {
  /// In lower case.
  var scheme: String?
  var authority: ArraySlice<UInt8>?
  var path: ArraySlice<UInt8>
  /// Without its `?`; an empty one is not none.
  var query: ArraySlice<UInt8>?

  /// Throws `.invalidURL` for more than 8 KiB, a control byte, and anything but one to three slashes behind a scheme:
  /// as with browsers and libcurl, `http:/a` and `http:///a` mean `http://a`.
  init(_ text: String) throws(NetworkError) {
    var rest = Array(text.utf8)[...]
    guard rest.count <= URLText.bytesMax else { throw URLParser.tooLong }
    guard !rest.contains(where: \.isControl) else { throw URLParser.refused("a control byte") }
    rest = rest.prefix { $0 != UInt8(ascii: "#") }
    scheme = Self.takeScheme(&rest)
    let slashes = rest.prefix { $0 == UInt8(ascii: "/") }.count
    if let scheme {
      guard scheme == "http" || scheme == "https" else {
        throw NetworkError(.invalidURL, cause: .scheme, reason: "scheme \(scheme) is not http or https")
      }
      guard (1...3).contains(slashes) else { throw URLParser.refused("\(slashes) slashes behind the scheme") }
    }
    if scheme != nil || slashes >= 2 {
      rest = rest.dropFirst(scheme == nil ? 2 : slashes)
      authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
      rest = rest.dropFirst(authority?.count ?? 0)
    }
    path = rest.prefix { $0 != UInt8(ascii: "?") }
    if path.endIndex < rest.endIndex { query = rest[(path.endIndex + 1)...] }
  }

  /// RFC 3986 section 3.1: what comes before a colon, when it is a letter and letters, digits, `+`, `-`, `.`.
  static func takeScheme(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard let first = rest.first, first.isASCIILetter else { return nil }
    let name = rest.prefix { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
    guard name.endIndex < rest.endIndex, rest[name.endIndex] == UInt8(ascii: ":") else { return nil }
    rest = rest[(name.endIndex + 1)...]
    return String(decoding: name.map(\.asciiLowercased), as: UTF8.self)
  }

  /// RFC 3986 section 5.2.2.
  func resolved(against base: URLReference) -> URLReference {
    guard scheme == nil else { return self }
    var result = self
    result.scheme = base.scheme
    guard authority == nil else { return result }
    result.authority = base.authority
    if path.isEmpty {
      result.path = base.path
      if query == nil { result.query = base.query }
    } else if path.first != UInt8(ascii: "/") {
      let end = base.path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? base.path.startIndex
      result.path = (base.path.isEmpty ? [UInt8(ascii: "/")] : base.path[..<end]) + path
    }
    return result
  }

  /// RFC 3986 section 5.2.4; at least a slash.
  static func withoutDots(_ path: ArraySlice<UInt8>) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    var output: [UInt8] = []
    let segments = path.split(separator: slash, omittingEmptySubsequences: false).dropFirst()
    for (index, segment) in zip(segments.indices, segments) {
      let dots = dots(segment)
      let (isDot, isUp) = (dots == 1, dots == 2)
      if isUp { output.removeSubrange((output.lastIndex(of: slash) ?? 0)...) }
      if !isDot && !isUp {
        output.append(slash)
        output += segment
      } else if index == segments.indices.last {
        output.append(slash)
      }
    }
    return output.isEmpty ? [slash] : output
  }

  /// The number of dots a segment is made of, `%2e` being one (RFC 3986 section 6.2.2.3 behind 6.2.2.2): a reader that
  /// undoes escapes takes it for one. Nil if there is anything else.
  private static func dots(_ segment: ArraySlice<UInt8>) -> Int? {
    guard segment.count <= 6 else { return nil }
    var (rest, count) = (segment, 0)
    while let byte = rest.first {
      if byte == UInt8(ascii: ".") {
        rest = rest.dropFirst()
      } else if rest.count >= 3, PercentCoding.isEncodedDot(rest.prefix(3)) {
        rest = rest.dropFirst(3)
      } else {
        return nil
      }
      count += 1
    }
    return count
  }
}
