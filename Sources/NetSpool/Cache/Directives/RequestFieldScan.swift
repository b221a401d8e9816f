/// Finds the few request fields that concern the cache in one pass over the block: nearly every request
/// has none of them and is done with after that.
enum RequestFieldScan {
  /// Some field may matter: a first letter and a length fit. No is certain, yes is not.
  static func mayConcernCache(_ headers: Headers) -> Bool {
    let bytes = headers.block.span
    var position = 0
    while let end = bytes.firstIndex(of: 0x0A, from: position) {
      if concernsCache(bytes, position..<end) { return true }
      position = end + 1
    }
    return false
  }

  private static func concernsCache(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
    guard let first = line.first else { return false }
    return switch bytes[first] | 0x20 {
    case UInt8(ascii: "c"): begins(bytes, line, with: "cache-control:")
    case UInt8(ascii: "p"): begins(bytes, line, with: "pragma:")
    case UInt8(ascii: "r"): begins(bytes, line, with: "range:")
    case UInt8(ascii: "i"): begins(bytes, line, with: "if-")
    case UInt8(ascii: "x"):
      begins(bytes, line, with: "x-http-method") || begins(bytes, line, with: "x-method")
    default: false
    }
  }

  private static func begins(_ bytes: Span<UInt8>, _ line: Range<Int>, with text: StaticString) -> Bool {
    let end = line.lowerBound + text.utf8CodeUnitCount
    return end <= line.upperBound && bytes.equals(text, in: line.lowerBound..<end)
  }

  /// Range, conditions of the caller's own, and fields in which frameworks look for another method.
  static func standsAlone(_ headers: Headers) -> Bool {
    aloneNames.contains { headers.contains($0) }
  }

  private static let aloneNames = [
    "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
  ]
}

extension RequestFieldScan {
  /// Some field may route the request: Host, Forwarded and the `X-` fields in their place. No is certain.
  static func mayRoute(_ headers: Headers) -> Bool {
    let bytes = headers.block.span
    var position = 0
    while let end = bytes.firstIndex(of: 0x0A, from: position) {
      let letter = bytes[position] | 0x20
      if letter == UInt8(ascii: "x") || letter == UInt8(ascii: "h") || letter == UInt8(ascii: "f") {
        return true
      }
      position = end + 1
    }
    return false
  }
}
