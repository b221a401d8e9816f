/// Bytes that do not arrive line by line.
extension HeaderParser {
  /// Takes bytes up to and including the next LF and drops them from `bytes`. Call it until `bytes` is
  /// empty, or until `.head`: what is left then belongs to the body.
  ///
  /// The beginning of a line that has no end yet is kept, up to `limits.lineBytesMax`. Throws as
  /// `line(_:)` does.
  mutating func consume(_ bytes: inout ArraySlice<UInt8>) throws(NetworkError) -> Event {
    guard let newline = bytes.span.firstIndex(of: 0x0A) else {
      try keep(bytes)
      bytes = []
      return .more
    }
    let first = bytes.prefix(newline + 1)
    bytes = bytes.dropFirst(newline + 1)
    if pending.isEmpty { return try line(first.span) }
    try keep(first)
    let whole = pending
    pending.removeAll(keepingCapacity: true)
    return try line(whole.span)
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) throws(NetworkError) {
    guard pending.count + bytes.count <= limits.lineBytesMax else { throw Self.tooLarge("line") }
    pending.append(contentsOf: bytes)
  }
}
