/// Field lines (RFC 9112 section 5).
extension HeaderParser {
  /// Checks and keeps one field line of the head or of the trailer section.
  mutating func fieldLine(_ line: Span<UInt8>, _ end: Int) throws(NetworkError) {
    sectionLines += 1
    guard sectionLines <= limits.linesMax else {
      throw Self.tooLarge(phase == .trailers ? "trailers" : "count")
    }
    if line[0].isBlank { return try foldedLine(line, end) }
    let colon = try Self.nameEnd(line, end)
    if let byte = line.firstForbidden(in: (colon + 1)..<end) { throw Self.forbidden(byte) }
    let value = line.trimmed((colon + 1)..<end)
    if phase == .trailers {
      trailers.append(line, colon: colon, value: value)
    } else if keepsFields {
      lastFieldFrames = try framing.note(line, name: 0..<colon, value: value)
      fields.append(line, colon: colon, value: value)
    }
  }

  /// The colon's position. A space before it has smuggled requests past proxies, so it is never
  /// trimmed away (RFC 9112 section 5.1).
  @inline(__always)
  private static func nameEnd(_ line: Span<UInt8>, _ end: Int) throws(NetworkError) -> Int {
    var index = 0
    while index < end, line[index].isTokenByte { index += 1 }
    guard index > 0, index < end, line[index] == 0x3A else { throw badName(line, end, index) }
    return index
  }

  /// Says what is wrong with the line whose name ended at `index`.
  private static func badName(_ line: Span<UInt8>, _ end: Int, _ index: Int) -> NetworkError {
    if let byte = line.firstForbidden(in: 0..<end) { return forbidden(byte) }
    guard index < end, let colon = line.firstIndex(of: 0x3A, from: index), colon < end else {
      return violation("noColon")
    }
    return violation(index > 0 && line[index].isBlank ? "spaceBeforeColon" : "fieldName")
  }

  /// A line that goes on with the field before it (`obs-fold`, RFC 9112 section 5.2): the fold becomes
  /// one space.
  private mutating func foldedLine(_ line: Span<UInt8>, _ end: Int) throws(NetworkError) {
    if let byte = line.firstForbidden(in: 0..<end) { throw Self.forbidden(byte) }
    guard sectionLines > 1 else { throw Self.violation("foldWithoutField") }
    // libcurl has read the unfolded line alone: the two readings of where the body ends would differ.
    guard phase == .trailers || !lastFieldFrames else { throw Framing.ambiguous("folded") }
    let rest = line.trimmed(0..<end)
    if phase == .trailers {
      trailers.extendLast(line, rest)
    } else if keepsFields {
      fields.extendLast(line, rest)
    }
  }

  static func forbidden(_ byte: UInt8) -> NetworkError {
    switch byte {
    case 0: violation("nul")
    case 0x0D: violation("bareCR")
    default: violation("bareLF")
    }
  }
}
