/// Finds the few request fields that concern the cache in one pass over the block: nearly every request
/// has none of them and is done with after that. Of the three questions no is certain, and yes is not.
enum RequestFieldScan {
  /// Whether some field may matter to the cache: a first letter and a beginning fit.
  static func mayConcernCache(_ headers: Headers) -> Bool {
    headers.containsLine { bytes, line in
      guard let first = line.first else { return false }
      return switch bytes[first] | 0x20 {
      case UInt8(ascii: "c"): bytes.begins(with: "cache-control:", in: line)
      case UInt8(ascii: "p"): bytes.begins(with: "pragma:", in: line)
      case UInt8(ascii: "r"): bytes.begins(with: "range:", in: line)
      case UInt8(ascii: "i"): bytes.begins(with: "if-", in: line)
      case UInt8(ascii: "x"):
        bytes.begins(with: "x-http-method", in: line) || bytes.begins(with: "x-method", in: line)
      default: false
      }
    }
  }

  /// Whether some field may route the request: Host, Forwarded and the `X-` fields in their place.
  static func mayRoute(_ headers: Headers) -> Bool {
    headers.containsLine { bytes, line in
      let letter = bytes[line.lowerBound] | 0x20
      return letter == UInt8(ascii: "x") || letter == UInt8(ascii: "h") || letter == UInt8(ascii: "f")
    }
  }

  /// Whether some field is not one of those that are known to hold no secret.
  static func mayHoldSecret(_ headers: Headers) -> Bool {
    headers.containsLine { bytes, line in !isCommon(bytes, line) }
  }

  private static func isCommon(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
    switch bytes[line.lowerBound] | 0x20 {
    case UInt8(ascii: "a"):
      bytes.begins(with: "accept:", in: line) || bytes.begins(with: "accept-encoding:", in: line)
        || bytes.begins(with: "accept-language:", in: line) || bytes.begins(with: "accept-charset:", in: line)
    case UInt8(ascii: "u"): bytes.begins(with: "user-agent:", in: line)
    case UInt8(ascii: "c"):
      bytes.begins(with: "content-type:", in: line) || bytes.begins(with: "cache-control:", in: line)
    default: false
    }
  }

  /// Whether there is a range, a condition of the caller's own, or a field in which frameworks look for another
  /// method.
  static func standsAlone(_ headers: Headers) -> Bool {
    aloneNames.contains { headers.contains($0) }
  }

  private static let aloneNames = [
    "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
  ]
}
