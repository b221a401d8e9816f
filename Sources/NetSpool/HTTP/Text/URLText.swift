/// URLs as text: put together and extended here, taken apart only by `URLParser`, so that no two parsers can
/// disagree about where a request goes.
///
/// Nothing is judged but what no parser should see: control bytes, an absent host, more than 8 KiB.
enum URLText {
  /// Longest URL accepted, in bytes: 8 KiB.
  static let bytesMax = 8192

  /// True if it begins with the scheme of a URL that can be sent.
  static func isWhole(_ text: String) -> Bool {
    guard let first = text.utf8.first, first | 0x20 == UInt8(ascii: "h") else { return false }
    return ["http://", "https://"].contains { (scheme: String) -> Bool in
      guard text.utf8.count >= scheme.utf8.count else { return false }
      return zip(text.utf8, scheme.utf8).allSatisfy { (byte: UInt8, wanted: UInt8) -> Bool in
        byte | 0x20 == wanted | 0x20
      }
    }
  }

  /// `scheme://host[:port]/basePath/path`, with single slashes where the parts meet.
  ///
  /// No path, an empty one and `/` all mean the base itself. A query or fragment may follow the path.
  /// An IPv6 host gets its brackets. Escapes in `path` stay; what cannot stand in a path is escaped.
  /// Throws `.invalidURL` (`noHost`, `controlByte`, `tooLong`).
  static func make(
    scheme: String, host: String?, port: Int?, basePath: String, path: String?
  ) throws(NetworkError) -> String {
    guard let host, !host.isEmpty else { throw NetworkError(.invalidURL, reason: "noHost") }
    let (path, rest) = splitPath((path ?? "").utf8)
    var url = Array("\(scheme)://\(bracketed(host))".utf8)
    if let port { url += ":\(port)".utf8 }
    try refuseControlBytes(url)
    let rootCount = url.count
    try appendPath(basePath.utf8[...], to: &url)
    try appendPath(path, to: &url)
    if url.count == rootCount { url.append(slash) }
    try refuseControlBytes(rest)
    PercentCoding.append(rest, to: &url, escaping: needsEscape)
    return try checkedLength(url)
  }

  /// An absolute URL as given, with spaces and non-ASCII bytes behind the host escaped, as browsers do.
  /// Throws `.invalidURL` (`empty`, `controlByte`, `tooLong`).
  static func absolute(_ text: String) throws(NetworkError) -> String {
    guard !text.isEmpty else { throw NetworkError(.invalidURL, reason: "empty") }
    try refuseControlBytes(text.utf8)
    guard text.utf8.contains(where: needsEscape) else { return try checkedLength(text) }
    let start = endOfAuthority(text)
    var url = Array(text.utf8[..<start])
    PercentCoding.append(text.utf8[start...], to: &url, escaping: needsEscape)
    return try checkedLength(url)
  }

  /// The URL with these parameters at the end of its query, before a fragment.
  /// Throws `.invalidURL` (`tooLong`).
  static func appending(_ parameters: [Parameter], to url: String) throws(NetworkError) -> String {
    guard !parameters.isEmpty else { return url }
    let fragment = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.utf8.endIndex
    var output = Array(url.utf8[..<fragment])
    if !output.contains(questionMark) { output.append(questionMark) }
    for parameter in parameters {
      if output.last != questionMark && output.last != ampersand { output.append(ampersand) }
      PercentCoding.appendQuery(parameter.name, to: &output)
      output.append(UInt8(ascii: "="))
      PercentCoding.appendQuery(parameter.value, to: &output)
    }
    return try checkedLength(output + url.utf8[fragment...])
  }

  // Everything below compares bytes: to Swift a slash with a combining mark is another character.
  private static let slash = UInt8(ascii: "/")
  private static let questionMark = UInt8(ascii: "?")
  private static let ampersand = UInt8(ascii: "&")

  /// Appends a part behind exactly one slash; a part of slashes only is none.
  private static func appendPath(_ part: Substring.UTF8View, to url: inout [UInt8]) throws(NetworkError) {
    try refuseControlBytes(part)
    let trimmed = part.drop { $0 == slash }
    guard !trimmed.isEmpty else { return }
    while url.last == slash { url.removeLast() }
    url.append(slash)
    PercentCoding.appendPath(Substring(trimmed), to: &url)
  }

  /// The path, and the query or fragment behind it.
  private static func splitPath(
    _ text: String.UTF8View
  ) -> (path: Substring.UTF8View, rest: Substring.UTF8View) {
    let end = text.firstIndex { $0 == questionMark || $0 == UInt8(ascii: "#") } ?? text.endIndex
    return (text[..<end], text[end...])
  }

  /// Two colons or more make an IPv6 address; one is a port that was given with the host. The `%` of a
  /// zone is escaped (RFC 6874).
  private static func bracketed(_ host: String) -> String {
    guard !host.hasPrefix("["), host.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 else { return host }
    guard let percent = host.firstIndex(of: "%"), !host[percent...].hasPrefix("%25") else {
      return "[\(host)]"
    }
    return "[\(host[..<percent])%25\(host[host.index(after: percent)...])]"
  }

  private static func endOfAuthority(_ text: String) -> String.Index {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return text.endIndex }
    let afterSlashes = text.utf8[colon...].dropFirst().drop { $0 == slash }
    return afterSlashes.firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
  }

  static func needsEscape(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x80 }

  private static func refuseControlBytes(_ bytes: some Sequence<UInt8>) throws(NetworkError) {
    if bytes.contains(where: \.isControl) { throw NetworkError(.invalidURL, reason: "controlByte") }
  }

  private static func checkedLength(_ url: String) throws(NetworkError) -> String {
    guard url.utf8.count <= bytesMax else { throw NetworkError(.invalidURL, reason: "tooLong") }
    return url
  }

  private static func checkedLength(_ url: [UInt8]) throws(NetworkError) -> String {
    try checkedLength(String(decoding: url, as: UTF8.self))
  }
}
