/// What a request with conditions of its own, or for parts, gets of a stored answer.
extension NetworkResponse {
  /// Becomes what was selected of it. `parts`: those that were.
  mutating func select(_ selection: StoredSelection, of stored: StoredResponse, _ parts: [ResponseBytes]) {
    switch selection {
    case .whole, .origin: return
    case .notModified: becomeNotModified()
    case .unsatisfiable: becomeUnsatisfiable(total: stored.parts?.total ?? stored.bodyBytes)
    case .parts(let ranges): becomePart(ranges, of: stored, parts)
    }
  }

  /// The fields that RFC 9110 section 15.4.5 asks for, and whatever else is not about the body.
  private mutating func becomeNotModified() {
    head.status = 304
    head.headers = head.headers.dropping { bytes, name in
      name.count > 8 && bytes.equals("content-", in: name.lowerBound..<(name.lowerBound + 8))
        && !bytes.equals("content-location", in: name)
    }
    body = .empty
  }

  private mutating func becomeUnsatisfiable(total: Int64) {
    head.status = 416
    describe(type: nil, bytes: 0, range: "bytes */\(total)")
    body = .empty
  }

  private mutating func becomePart(
    _ ranges: [Range<Int64>], of stored: StoredResponse, _ parts: [ResponseBytes]
  ) {
    let total = stored.parts?.total ?? stored.bodyBytes
    head.status = 206
    if ranges.count == 1 {
      body = parts[0]
      return describe(type: nil, bytes: body.count, range: ContentRange.text(ranges[0], total: total))
    }
    let boundary = "netspool-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    body = ResponseBytes(
      ByteRanges.make(
        ranges, total: total, type: head.headers.first("Content-Type"), boundary: boundary, parts))
    describe(type: "multipart/byteranges; boundary=\(boundary)", bytes: body.count, range: nil)
  }

  private mutating func describe(type: String?, bytes: Int, range: String?) {
    head.headers.remove("Content-Range")
    if let type { head.headers.set("Content-Type", type) }
    if let range { head.headers.set("Content-Range", range) }
    head.headers.set("Content-Length", String(bytes))
  }
}
