extension Multipart {
  /// The body as it will be sent: stretches of bytes and whole files, with its length known.
  struct Layout: Hashable, Sendable {
    enum Segment: Hashable, Sendable {
      case bytes([UInt8])
      case file(path: String, promised: FileVersion)
    }

    var segments: [Segment] = []
    /// Bytes, boundaries and all.
    var length: Int64 = 0

    mutating func append(_ segment: Segment) {
      segments.append(segment)
      switch segment {
      case .bytes(let bytes): length += Int64(bytes.count)
      case .file(_, let promised): length += promised.size
      }
    }
  }

  /// Takes the fingerprint of every file, without reading one. Blocks as long as the disk needs.
  /// Throws `.uploadSourceFailed` for a missing file, `.invalidRequest` for a part that cannot be written.
  func layout() throws(NetworkError) -> Layout {
    var layout = Layout()
    for part in parts {
      layout.append(.bytes(try head(of: part)))
      switch part.content {
      case .bytes(let bytes): layout.append(.bytes(bytes))
      case .file(let path): layout.append(.file(path: path, promised: try FileVersion.promised(by: path)))
      }
      layout.append(.bytes([0x0D, 0x0A]))
    }
    layout.append(.bytes(Array("--\(boundary)--\r\n".utf8)))
    return layout
  }

  /// The boundary line and the part's header fields, in the order in which curl writes them.
  func head(of part: Part) throws(NetworkError) -> [UInt8] {
    try check(part)
    var head = Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"".utf8)
    Self.appendQuoted(Self.normalizedNewlines(part.name), to: &head)
    if let fileName = part.fileName {
      head += "\"; filename=\"".utf8
      Self.appendQuoted(Array(fileName.utf8), to: &head)
    }
    head += "\"\r\n".utf8
    if let type = part.sentType { head += "Content-Type: \(type)\r\n".utf8 }
    head += "\r\n".utf8
    return head
  }

  private func check(_ part: Part) throws(NetworkError) {
    let names = [part.name, part.fileName ?? ""]
    guard !names.contains(where: { $0.utf8.contains(0) }) else {
      throw NetworkError(.invalidRequest, reason: "partName")
    }
    guard !(part.mimeType ?? "").utf8.contains(where: \.isControl) else {
      throw NetworkError(.invalidRequest, reason: "partType")
    }
  }

  /// A name between quotes: quote, CR and LF as `%22`, `%0D`, `%0A`, all else as it is (HTML, section
  /// 4.10.21.8). Not RFC 2231's `name*=`, which RFC 7578 section 4.2 forbids.
  private static func appendQuoted(_ name: [UInt8], to output: inout [UInt8]) {
    for byte in name {
      switch byte {
      case UInt8(ascii: "\""), 0x0D, 0x0A: PercentCoding.appendEscape(byte, to: &output)
      default: output.append(byte)
      }
    }
  }

  /// Field names, unlike file names, first get CR LF for every kind of line end (HTML, the same section).
  private static func normalizedNewlines(_ name: String) -> [UInt8] {
    var output: [UInt8] = []
    var last: UInt8 = 0
    for byte in name.utf8 {
      if byte == 0x0D || byte == 0x0A {
        if !(byte == 0x0A && last == 0x0D) { output += [0x0D, 0x0A] }
      } else {
        output.append(byte)
      }
      last = byte
    }
    return output
  }
}
