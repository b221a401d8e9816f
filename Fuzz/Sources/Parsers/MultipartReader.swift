/// A server's reading of `multipart/form-data` (RFC 2046 section 5.1.1, RFC 7578), as strict as one may be.
enum MultipartReader {
  struct Part {
    var name: [UInt8] = []
    var fileName: [UInt8]?
    var content: [UInt8] = []
  }

  /// Nil for anything that is not exactly such a body.
  static func parts(of body: [UInt8], boundary: String) -> [Part]? {
    var rest = body[...]
    let (line, end) = (Array("--\(boundary)\r\n".utf8), Array("--\(boundary)--\r\n".utf8))
    var parts: [Part] = []
    while !rest.elementsEqual(end) {
      guard rest.starts(with: line) else { return nil }
      rest = rest.dropFirst(line.count)
      guard let part = part(&rest, Array("\r\n--\(boundary)".utf8)) else { return nil }
      parts.append(part)
    }
    return parts
  }

  private static func part(_ rest: inout ArraySlice<UInt8>, _ boundary: [UInt8]) -> Part? {
    var part = Part()
    while let field = upTo([0x0D, 0x0A], &rest) {
      if field.isEmpty {
        guard let content = upTo(boundary, &rest, keeping: boundary.count - 2) else { return nil }
        part.content = Array(content)
        return part
      }
      let disposition = Array("Content-Disposition: form-data; ".utf8)
      guard field.starts(with: disposition) else { continue }
      guard !readNames(field.dropFirst(disposition.count), &part) else { continue }
      return nil
    }
    return nil
  }

  /// `name="…"; filename="…"`, no quote inside.
  private static func readNames(_ text: ArraySlice<UInt8>, _ part: inout Part) -> Bool {
    var rest = text
    guard upTo(Array("name=\"".utf8), &rest) == [], let name = upTo([0x22], &rest) else { return false }
    part.name = Array(name)
    guard !rest.isEmpty else { return true }
    guard upTo(Array("; filename=\"".utf8), &rest) == [], let file = upTo([0x22], &rest) else { return false }
    part.fileName = Array(file)
    return rest.isEmpty
  }

  /// What stands before `mark`; of the mark the last `keeping` bytes stay.
  private static func upTo(
    _ mark: [UInt8], _ rest: inout ArraySlice<UInt8>, keeping: Int = 0
  ) -> ArraySlice<UInt8>? {
    var start = rest.startIndex
    while start + mark.count <= rest.endIndex {
      if rest[start] == mark[0], rest[start...].starts(with: mark) {
        defer { rest = rest[(start + mark.count - keeping)...] }
        return rest[..<start]
      }
      start += 1
    }
    return nil
  }
}
