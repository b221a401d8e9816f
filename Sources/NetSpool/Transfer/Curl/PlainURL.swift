/// Splits URLs whose authority `URLParser` has already judged, without asking it again.
///
/// Parsing costs 13,000 of the 71,000 instructions of a request. An authority is only taken from here when
/// exactly these bytes went through `URLParser` before, and only for a rest made of plain characters with
/// no dot segment; everything else takes the long way.
enum PlainURL {
  /// The number of bytes of `scheme://authority`, when the rest needs no care.
  static func originLength(_ url: String) -> Int? {
    let bytes = url.utf8.span
    guard let start = authorityStart(bytes), let end = authorityEnd(bytes, from: start) else { return nil }
    return isPlainAuthority(bytes, start..<end) && isPlainTarget(bytes, from: end) ? end : nil
  }

  /// The URL is `origin`, for which `originLength` has been found before, and a rest that needs no care.
  static func goesOn(_ url: String, from origin: String) -> Bool {
    let bytes = url.utf8.span
    let origin = origin.utf8.span
    return bytes.count > origin.count && bytes[origin.count] == UInt8(ascii: "/")
      && bytes.begins(with: origin) && isPlainTarget(bytes, from: origin.count)
  }

  /// The number of bytes of `scheme://authority` when the URL is canonical as it stands: what `URLParser`
  /// would make of it is known without asking. Nil says nothing.
  static func canonicalOriginLength(_ url: String) -> Int? {
    let bytes = url.utf8.span
    guard let start = authorityStart(bytes), let end = authorityEnd(bytes, from: start),
      isPlainTarget(bytes, from: end)
    else { return nil }
    // `hTTp` would be another spelling of the same origin.
    let scheme = bytes.word(at: 0)
    let isSecure = scheme == 0x2F2F_3A73_7074_7468  // "https://", the first byte lowest
    guard isSecure || scheme << 8 == 0x2F2F_3A70_7474_6800 else { return nil }
    return isCanonicalAuthority(bytes, start..<end, isSecure: isSecure) ? end : nil
  }

  /// A name in lower case, or four plain numbers, and no port or one that is not the scheme's own. A name that
  /// ends in digits otherwise is a number to some parsers.
  private static func isCanonicalAuthority(_ url: Span<UInt8>, _ range: Range<Int>, isSecure: Bool) -> Bool {
    var end = range.upperBound
    if let colon = url.firstIndex(of: UInt8(ascii: ":"), from: range.lowerBound), colon < end {
      guard let port = canonicalNumber(url, (colon + 1)..<end, max: 65_535), port != (isSecure ? 443 : 80)
      else { return false }
      end = colon
    }
    let host = range.lowerBound..<end
    guard let last = host.last, host.count <= URLAuthority.hostBytesMax else { return false }
    if url[last].isASCIIDigit { return isDottedQuad(url, host) }
    for index in host where !isHostByte(url[index]) { return false }
    return url[last].isASCIILetter && !labelIsNumber(url, host)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    byte &- 0x61 < 26 || byte.isASCIIDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  /// The last label begins with a digit, as `0x7f` does.
  private static func labelIsNumber(_ url: Span<UInt8>, _ host: Range<Int>) -> Bool {
    var start = host.upperBound
    while start > host.lowerBound, url[start - 1] != UInt8(ascii: ".") { start -= 1 }
    return url[start].isASCIIDigit
  }

  /// Four numbers up to 255, none with a leading zero.
  private static func isDottedQuad(_ url: Span<UInt8>, _ host: Range<Int>) -> Bool {
    var (dots, digits, value) = (0, 0, 0)
    for index in host {
      let byte = url[index]
      if byte == UInt8(ascii: "."), digits > 0 {
        (dots, digits, value) = (dots + 1, 0, 0)
        continue
      }
      guard byte.isASCIIDigit, digits == 0 || value > 0 else { return false }
      value = value * 10 + Int(byte - 0x30)
      digits += 1
      guard value <= 255 else { return false }
    }
    return dots == 3 && digits > 0
  }

  /// True if the host ends in a number (WHATWG URL, section 3.5) and is not an address of four plain ones.
  static func isUnwrittenAddress(_ host: String) -> Bool {
    let bytes = host.utf8.span
    var start = bytes.count
    while start > 0, bytes[start - 1] != UInt8(ascii: ".") { start -= 1 }
    let label = bytes.extracting(start..<bytes.count)
    guard label.count > 0, isNumber(label) else { return false }
    return !isDottedQuad(bytes, 0..<bytes.count)
  }

  /// Digits, or `0x` and hexadecimal ones.
  private static func isNumber(_ label: Span<UInt8>) -> Bool {
    let isHexadecimal = label.count > 1 && label[0] == 0x30 && label[1] | 0x20 == UInt8(ascii: "x")
    for index in (isHexadecimal ? 2 : 0)..<label.count {
      let byte = label[index]
      guard byte.isASCIIDigit || (isHexadecimal && Hexadecimal.value(byte) != nil) else { return false }
    }
    return true
  }

  /// Digits without a leading zero.
  private static func canonicalNumber(_ url: Span<UInt8>, _ range: Range<Int>, max: Int) -> Int? {
    guard (1...5).contains(range.count), range.count == 1 || url[range.lowerBound] != UInt8(ascii: "0") else {
      return nil
    }
    var value = 0
    for index in range {
      guard url[index].isASCIIDigit else { return nil }
      value = value * 10 + Int(url[index] - 0x30)
    }
    return value <= max ? value : nil
  }

  /// The position at which the path of a canonical URL begins.
  static func targetOffset(_ url: String) -> Int {
    let bytes = url.utf8.span
    guard let start = authorityStart(bytes) else { return bytes.count }
    return authorityEnd(bytes, from: start) ?? bytes.count
  }

  private static func authorityStart(_ url: Span<UInt8>) -> Int? {
    guard url.count > 8, url[0] == UInt8(ascii: "h"), url[3] == UInt8(ascii: "p") else { return nil }
    let start = url[4] == UInt8(ascii: "s") ? 8 : 7
    return url[start - 1] == UInt8(ascii: "/") && url[start - 2] == UInt8(ascii: "/") ? start : nil
  }

  /// The authority ends at the first slash; one without a path takes the long way.
  private static func authorityEnd(_ url: Span<UInt8>, from start: Int) -> Int? {
    url.firstIndex(of: UInt8(ascii: "/"), from: start).flatMap { $0 > start ? $0 : nil }
  }

  /// A query or fragment may come without a path, and then the first slash is inside it.
  private static func isPlainAuthority(_ url: Span<UInt8>, _ range: Range<Int>) -> Bool {
    for index in range {
      let byte = url[index]
      guard
        byte.isUnreserved || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "[")
          || byte == UInt8(ascii: "]")
      else { return false }
    }
    return true
  }

  private static func isPlainTarget(_ url: Span<UInt8>, from start: Int) -> Bool {
    guard url.count <= 8192 else { return false }
    var index = start
    var previous: UInt8 = 0
    while index < url.count {
      let byte = url[index]
      if byte == UInt8(ascii: ".") && previous == UInt8(ascii: "/") { return false }
      // An escaped dot may make a dot segment.
      if byte == UInt8(ascii: "%"), index + 2 < url.count, url[index + 1] == UInt8(ascii: "2"),
        url[index + 2] | 0x20 == UInt8(ascii: "e")
      {
        return false
      }
      if !isPlain(byte) { return false }
      previous = byte
      index += 1
    }
    return true
  }

  /// Unreserved, `/`, `?`, `%`, `:`, `@` and the sub-delimiters: sent as they are. A map of 128 bits.
  @inline(__always)
  private static func isPlain(_ byte: UInt8) -> Bool {
    let map: UInt64 = byte < 64 ? 0xAFFF_FFF2_0000_0000 : byte < 128 ? 0x47FF_FFFE_87FF_FFFF : 0
    return (map >> UInt64(byte & 63)) & 1 != 0
  }
}
