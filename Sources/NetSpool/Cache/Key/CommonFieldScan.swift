/// Tells the request fields of every day from those that need a closer look.
enum CommonFieldScan {
  /// Some field is not one of those that are known to hold no secret. No is certain, yes is not.
  static func mayHoldSecret(_ headers: Headers) -> Bool {
    let bytes = headers.block.span
    var position = 0
    while let end = bytes.firstIndex(of: 0x0A, from: position) {
      if !isCommon(bytes, position..<end) { return true }
      position = end + 1
    }
    return false
  }

  private static func isCommon(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
    switch bytes[line.lowerBound] | 0x20 {
    case UInt8(ascii: "a"):
      begins(bytes, line, "accept:") || begins(bytes, line, "accept-encoding:")
        || begins(bytes, line, "accept-language:") || begins(bytes, line, "accept-charset:")
    case UInt8(ascii: "u"): begins(bytes, line, "user-agent:")
    case UInt8(ascii: "c"): begins(bytes, line, "content-type:") || begins(bytes, line, "cache-control:")
    default: false
    }
  }

  private static func begins(_ bytes: Span<UInt8>, _ line: Range<Int>, _ text: StaticString) -> Bool {
    let end = line.lowerBound + text.utf8CodeUnitCount
    return end <= line.upperBound && bytes.equals(text, in: line.lowerBound..<end)
  }
}
