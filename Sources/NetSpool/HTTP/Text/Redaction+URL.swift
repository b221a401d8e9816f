extension Redaction {
  /// A URL as it may be shown. One without `@`, query, fragment and odd bytes is returned as it is, which
  /// is nearly every URL a log line sees.
  func url(_ url: String) -> String {
    guard url.utf8.contains(where: Self.needsLook) else { return url }
    let bytes = Self.maskingUserinfo(Array(url.utf8))
    let query = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
    let masked = bytes[..<query] + Self.maskingPairs(bytes[query...])
    return Self.printable(String(decoding: masked, as: UTF8.self))
  }

  /// `name=value` pairs between `&`, as in a query or a form.
  func form(_ text: String) -> String {
    String(decoding: Self.maskingPairs(Array(text.utf8)[...]), as: UTF8.self)
  }

  private static func needsLook(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "@") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
      || byte.isControl || byte >= 0x80
  }
}

// MARK: Userinfo
extension Redaction {
  /// Masks what stands before the `@` of an authority, wherever `://` begins one: a URL may carry another
  /// in its path or query.
  private static func maskingUserinfo(_ url: [UInt8]) -> [UInt8] {
    guard let lastAt = url.lastIndex(of: UInt8(ascii: "@")) else { return url }
    var output: [UInt8] = []
    var position = 0
    var start: Int? = firstAuthority(url)
    while let authority = start {
      if let at = userinfoEnd(url, from: authority, isFirst: position == 0, lastAt) {
        output += url[position..<authority]
        output += mask.utf8
        position = at
      }
      start = nextAuthority(url, from: max(position, authority))
    }
    return output + url[position...]
  }

  /// The position behind the scheme and its slashes, of which libcurl takes any number; the start without a scheme.
  private static func firstAuthority(_ url: [UInt8]) -> Int {
    let colon = url.firstIndex { !($0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0)) }
    if let colon, url[colon] == UInt8(ascii: ":"), let next = url[(colon + 1)...].first, isSlash(next) {
      return url[(colon + 1)...].firstIndex { !isSlash($0) } ?? url.endIndex
    }
    return url.starts(with: "//".utf8) ? 2 : 0
  }

  private static func nextAuthority(_ url: [UInt8], from start: Int) -> Int? {
    var index = start
    while let colon = url[index...].firstIndex(of: UInt8(ascii: ":")) {
      if url[(colon + 1)...].starts(with: "//".utf8) { return colon + 3 }
      index = colon + 1
    }
    return nil
  }

  /// The `@` that ends the userinfo. A slash in a password cuts the authority short and leaves a port that
  /// is no number: then everything up to the last `@` may be the password.
  private static func userinfoEnd(_ url: [UInt8], from start: Int, isFirst: Bool, _ lastAt: Int) -> Int? {
    let end = url[start...].firstIndex { "/?#".utf8.contains($0) } ?? url.endIndex
    let authority = url[start..<end]
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { return at }
    guard isFirst, authority.first != UInt8(ascii: "["),
      let colon = authority.lastIndex(of: UInt8(ascii: ":")),
      !authority[(colon + 1)...].allSatisfy(\.isASCIIDigit)
    else { return nil }
    return lastAt >= end ? lastAt : nil
  }

  private static func isSlash(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
  }
}

// MARK: Pairs
extension Redaction {
  /// Values are unescaped this many times in search of a URL with secrets.
  private static let escapeLevelsMax = 3

  private static func maskingPairs(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    var start = text.startIndex
    while true {
      let end = text[start...].firstIndex(of: UInt8(ascii: "&")) ?? text.endIndex
      output += maskingPair(text[start..<end])
      guard end < text.endIndex else { return output }
      output.append(UInt8(ascii: "&"))
      start = end + 1
    }
  }

  /// Masks from the first secret name to the end of the pair: names also begin after `;`, `?` and `#`, but
  /// a secret value that holds one of these does not end there.
  private static func maskingPair(_ pair: ArraySlice<UInt8>) -> [UInt8] {
    var start = pair.startIndex
    while start < pair.endIndex {
      let end = pair[start...].firstIndex { ";?#".utf8.contains($0) } ?? pair.endIndex
      if let equals = pair[start..<end].firstIndex(of: UInt8(ascii: "=")),
        isSecret(key: PercentCoding.decode(pair[start..<equals], plusIsSpace: true))
          || hidesSecret(pair[(equals + 1)..<end])
      {
        return Array(pair[...equals]) + mask.utf8
      }
      start = min(end + 1, pair.endIndex)
    }
    return Array(pair)
  }

  /// An escaped value that is a URL or a query with secrets of its own, perhaps escaped again.
  private static func hidesSecret(_ value: ArraySlice<UInt8>) -> Bool {
    var decoded = Array(value)
    for _ in 0..<escapeLevelsMax {
      guard decoded.contains(UInt8(ascii: "%")) else { return false }
      decoded = PercentCoding.decode(decoded, plusIsSpace: true)
      if maskingUserinfo(decoded) != decoded || holdsSecretName(decoded) { return true }
    }
    return false
  }

  private static func holdsSecretName(_ text: [UInt8]) -> Bool {
    text.split { "&;?#".utf8.contains($0) }.contains { piece in
      piece.firstIndex(of: UInt8(ascii: "=")).map { isSecret(key: piece[..<$0]) } ?? false
    }
  }
}
