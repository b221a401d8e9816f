import ArgumentParser
import NetSpool

/// The little that the list reader must know of URLs. libcurl's parser has the last word.
enum URLText {
  enum Problem: Equatable, Sendable {
    case empty, noHost, hasSpace, hasControl, cutUser
    /// The scheme that stands there, if there is one.
    case noScheme(String?)

    var sentence: String {
      switch self {
      case .empty: "there is no URL"
      case .noScheme(let scheme?):
        Suggestion.nearest(to: scheme, in: ["http", "https"]).map { meant in
          meant == scheme
            ? "two slashes stand behind \(scheme): '\(scheme)://host/path'"
            : "there is no scheme '\(scheme)': did you mean '\(meant)://'?"
        } ?? "\(scheme):// is not known here, only http:// and https://"
      case .noScheme(nil): "the URL does not begin with http:// or https://"
      case .noHost: "the URL has no host"
      case .hasSpace: "the URL contains a space in its host (a name is set off by a tab)"
      case .cutUser: "'/', '?' and '#' in a user or password are written %2F, %3F and %23"
      case .hasControl: "the URL contains a control character"
      }
    }
  }

  /// Throws for the first of a command line's URLs that is none.
  static func check(_ urls: some Sequence<String>) throws {
    for url in urls {
      if let problem = problem(url) { throw ValidationError("'\(excerpt(url))': \(problem.sentence).") }
    }
  }

  /// True if a command line argument is a URL rather than the path of a list.
  static func looksLikeURL(_ argument: String) -> Bool { argument.contains("://") }

  /// True if it begins as one of ours: `http:/x` does.
  static func hasScheme(_ text: String) -> Bool { begins(text, "http:/") || begins(text, "https:/") }

  /// The URL that was meant by the name of a list that is not there; nil where none was.
  static func meant(_ path: String) -> String? {
    if hasScheme(path), let colon = path.firstIndex(of: ":") {
      return "\(path[..<colon])://\(path[colon...].dropFirst().drop { $0 == "/" })"
    }
    let host = path.prefix { $0 != "/" && $0 != ":" && $0 != "?" }
    let isHost =
      host.contains(".") && !host.hasPrefix(".") && host.last?.isLetter == true || host == "localhost"
    return isHost && !host.contains(" ") ? "https://\(path)" : nil
  }

  /// What makes the text unusable; nil when it may be tried. Blanks behind the host are sent escaped, as by browsers.
  static func problem(_ url: String) -> Problem? {
    if url.isEmpty { return .empty }
    guard let scheme = schemeBytes(url) else {
      let name = url.prefix { $0 != ":" }
      let isScheme = name.endIndex < url.endIndex && name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 }
      return .noScheme(isScheme && url[name.endIndex...].hasPrefix(":/") ? name.lowercased() : nil)
    }
    guard let host = url.utf8.dropFirst(scheme).first, !endsAuthority(host) else { return .noHost }
    if cutUserEnd(url) != nil { return .cutUser }
    let bytes = url.utf8.span
    var isHost = true
    for index in scheme..<bytes.count {
      let byte = bytes[index]
      if isHost, endsAuthority(byte) { isHost = false }
      if byte < 0x20 || byte == 0x7F { return .hasControl }
      if byte == 0x20, isHost { return .hasSpace }
    }
    return nil
  }

  static func withoutFragment(_ url: String) -> String {
    url.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(url[..<$0]) } ?? url
  }

  /// The length of `http://` or `https://`, any case.
  private static func schemeBytes(_ url: String) -> Int? {
    if begins(url, "https://") { return 8 }
    return begins(url, "http://") ? 7 : nil
  }

  /// - Parameter prefix: in small letters.
  private static func begins(_ url: String, _ prefix: String) -> Bool {
    let (bytes, wanted) = (url.utf8.span, prefix.utf8.span)
    guard bytes.count >= wanted.count else { return false }
    for index in wanted.indices {
      let byte = bytes[index]
      guard byte == wanted[index] || 0x41...0x5A ~= byte && byte | 0x20 == wanted[index] else { return false }
    }
    return true
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  /// The URL for messages: without user name, password and the values of secret keys.
  static func masked(_ url: String) -> String { NetworkRequest(url: url).urlMasked }

  /// The URL for files that are kept: user and password are `***` and four digits that tell them from others
  /// of the same URL. The digits are of these two alone and the same everywhere, so that all of a file says
  /// no more than they do: too little to try passwords by.
  static func recorded(_ url: String) -> String {
    let start = authorityStart(url)
    let authority = authorityBytes(url)
    guard let end = authority.lastIndex(of: UInt8(ascii: "@")) ?? cutUserEnd(url),
      !isMask(url.utf8[start..<end])
    else { return url }
    let digits = String(fnv1a(url.utf8[start..<end]) & 0xFFFF, radix: 16)
    return String(url[..<start] + "***" + HumanText.padded(digits, to: 4, with: "0") + url[end...])
  }

  /// The `@` behind a user or password that a slash or its like cuts off, as its port is no number; nil without such a one.
  private static func cutUserEnd(_ url: String) -> String.Index? {
    let authority = authorityBytes(url)
    guard !authority.contains(UInt8(ascii: "@")), authority.first != UInt8(ascii: "["),
      let colon = authority.lastIndex(of: UInt8(ascii: ":")),
      !authority[colon...].dropFirst().allSatisfy({ 0x30...0x39 ~= $0 })
    else { return nil }
    return url.utf8[authority.endIndex...].lastIndex(of: UInt8(ascii: "@"))
  }

  /// The URL without a mask, which no server would take for a user.
  static func withoutMask(_ url: String) -> String {
    let start = authorityStart(url)
    let user = url.utf8[start...].prefix(maskBytes)
    guard isMask(user), url.utf8[user.endIndex...].first == UInt8(ascii: "@") else { return url }
    return String(url[..<start] + url[url.utf8.index(after: user.endIndex)...])
  }

  private static let maskBytes = 7

  private static func isMask(_ user: Substring.UTF8View) -> Bool {
    user.count == maskBytes && user.starts(with: "***".utf8)
      && user.dropFirst(3).allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }

  /// The same on every machine and for all time.
  static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  /// The same for an error, which no user reads to the end of.
  static func excerpt(_ url: String) -> String {
    let text = masked(url)
    return text.count <= excerptMax ? text : text.prefix(excerptMax) + "…"
  }

  private static let excerptMax = 160

  /// Scheme, host and port as they are written, in lower case and without the scheme's own port, user name and password.
  static func origin(_ url: String) -> String {
    let start = authorityStart(url)
    let authority = authorityBytes(url)
    let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[url.utf8.index(after: $0)...] }
    let text = (url[..<start] + String(Substring(host ?? authority))).lowercased()
    let own = text.hasPrefix("https:") ? ":443" : ":80"
    return text.hasSuffix(own) ? String(text.dropLast(own.count)) : text
  }

  static func authority(_ url: String) -> String {
    let origin = origin(url)
    return String(origin.utf8.dropFirst(schemeBytes(origin) ?? 0)) ?? origin
  }

  /// The host alone, without brackets; empty when there is none.
  static func host(_ url: String) -> String {
    let text = authority(url)
    if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
    return String(text.prefix { $0 != ":" })
  }

  /// Returns the account before the host; nil without, and for an empty name.
  static func user(_ url: String) -> (name: String, password: String?)? {
    let authority = authorityBytes(url)
    guard let end = authority.lastIndex(of: UInt8(ascii: "@")) else { return nil }
    let parts = url[authority.startIndex..<end].split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false
    ).map { OutputName.percentDecoded(String($0)) ?? String($0) }
    return parts[0].isEmpty ? nil : (parts[0], parts.dropFirst().first)
  }

  static func port(_ url: String) -> String {
    let digits = origin(url).reversed().prefix { $0.isASCIIDigit }.reversed()
    let isNamed = origin(url).dropLast(digits.count).hasSuffix(":") && !digits.isEmpty
    return isNamed ? String(digits) : begins(url, "https:") ? "443" : "80"
  }

  /// The path as it stands, at least a slash.
  static func path(_ url: String) -> String {
    let path = written(url).drop { !endsAuthority($0) }
    return path.isEmpty ? "/" : String(Substring(path))
  }

  /// Authority and path, without query and fragment.
  private static func written(_ url: String) -> Substring.UTF8View {
    url.utf8[authorityStart(url)...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
  }

  /// What is asked of a server.
  static func pathAndQuery(_ url: String) -> String { path(url) + (behind("?", url).map { "?\($0)" } ?? "") }

  /// The query or the fragment; nil without.
  static func behind(_ mark: Character, _ url: String) -> String? {
    let rest = mark == "?" ? Substring(withoutFragment(url)) : url[...]
    return rest.firstIndex(of: mark).map { String(rest[rest.index(after: $0)...]) }
  }

  static func hasPath(_ url: String) -> Bool { url.utf8[authorityStart(url)...].contains(UInt8(ascii: "/")) }

  /// The components of the path, still percent-encoded; empty ones left out, but for the last.
  static func pathComponents(_ url: String) -> [Substring] {
    let parts = Substring(written(url)).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    return parts.dropLast().filter { !$0.isEmpty } + parts.suffix(1)
  }

  /// The last component of the path, still percent-encoded; empty for `https://host/` and `https://host`.
  static func lastPathComponent(_ url: String) -> Substring {
    let rest = written(url)
    return rest.lastIndex(of: UInt8(ascii: "/")).map { Substring(rest[$0...].dropFirst()) } ?? ""
  }

  /// User, host and port, as they stand.
  private static func authorityBytes(_ url: String) -> Substring.UTF8View {
    url.utf8[authorityStart(url)...].prefix { !endsAuthority($0) }
  }

  private static func authorityStart(_ url: String) -> String.Index {
    url.utf8.index(url.startIndex, offsetBy: schemeBytes(url) ?? 0)
  }
}
