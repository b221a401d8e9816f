/// The Content-Range field of a 206 or 416 (RFC 9110 section 14.4), in bytes.
struct ContentRange: Sendable, Hashable {
  /// First and last position, both included; nil for `bytes */total`.
  let range: ClosedRange<Int64>?
  /// Nil for `*`.
  let total: Int64?

  /// The field's value for a part of a body.
  static func text(_ range: Range<Int64>, total: Int64) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
  }

  /// Nil unless it is well formed and possible: first <= last < total, at most 18 digits each.
  static func parse(_ value: ArraySlice<UInt8>) -> ContentRange? {
    let text = value.span
    guard text.count > 6, text.equals("bytes ", in: 0..<6),
      let slash = text.firstIndex(of: UInt8(ascii: "/"), from: 6)
    else { return nil }
    let range = text.trimmed(6..<slash)
    let total = text.trimmed((slash + 1)..<text.count)
    if text.equals("*", in: range) {
      return text.decimal(in: total).map { ContentRange(range: nil, total: $0) }
    }
    return satisfied(text, range, total)
  }

  private static func satisfied(
    _ text: Span<UInt8>, _ range: Range<Int>, _ total: Range<Int>
  ) -> ContentRange? {
    guard let dash = text.firstIndex(of: UInt8(ascii: "-"), from: range.lowerBound),
      dash < range.upperBound, let first = text.decimal(in: range.lowerBound..<dash),
      let last = text.decimal(in: (dash + 1)..<range.upperBound), first <= last
    else { return nil }
    if text.equals("*", in: total) { return ContentRange(range: first...last, total: nil) }
    guard let total = text.decimal(in: total), last < total else { return nil }
    return ContentRange(range: first...last, total: total)
  }
}

extension Headers {
  /// The part of a body that this is.
  var contentRange: ContentRange? {
    first("Content-Range").flatMap { ContentRange.parse(Array($0.utf8)[...]) }
  }

  /// True for a body from this byte on, up to the end where that is told.
  package func tellsRest(from start: Int64) -> Bool {
    guard let content = contentRange, let range = content.range, range.lowerBound == start else {
      return false
    }
    return content.total.map { $0 == range.upperBound + 1 } ?? true
  }
}
