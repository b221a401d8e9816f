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
    guard rest.count <= URLText.bytesMax else { throw URLParser.refused("longer than 8 KiB") }
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
  private static func takeScheme(_ rest: inout ArraySlice<UInt8>) -> String? {
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
      let isDot = segment.elementsEqual(".".utf8)
      let isUp = segment.elementsEqual("..".utf8)
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
}
