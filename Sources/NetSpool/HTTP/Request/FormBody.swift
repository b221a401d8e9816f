/// A name with its value, as a query, a form or a flat JSON object carries it. Order and repeats count.
struct Parameter: Hashable, Sendable {
  var name: String
  var value: String
  /// A number or a truth value, which JSON has without quotes.
  var isBare = false

  init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  init(_ name: String, of value: any LosslessStringConvertible) {
    self.init(name, value.description)
    isBare = value is Bool || value is any BinaryInteger || (value as? any FloatingPoint)?.isFinite ?? false
  }
}

/// `application/x-www-form-urlencoded` (WHATWG URL, section 5.2), the default for parameters of a POST.
enum FormBody {
  static let contentType = "application/x-www-form-urlencoded"

  static func encode(_ parameters: [Parameter]) -> [UInt8] {
    var output: [UInt8] = []
    for parameter in parameters {
      if !output.isEmpty { output.append(UInt8(ascii: "&")) }
      PercentCoding.appendForm(parameter.name, to: &output)
      output.append(UInt8(ascii: "="))
      PercentCoding.appendForm(parameter.value, to: &output)
    }
    return output
  }
}

/// A JSON object of strings, numbers and truth values (RFC 8259), for parameters sent as JSON.
enum FlatJSON {
  static let contentType = "application/json"

  /// Members in the order given. A repeated name stands once, with its last value, where it was first:
  /// parsers disagree about repeated members.
  static func encode(_ parameters: [Parameter]) -> [UInt8] {
    var output: [UInt8] = [UInt8(ascii: "{")]
    for (index, parameter) in unique(parameters).enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      appendString(parameter.name, to: &output)
      output.append(UInt8(ascii: ":"))
      if parameter.isBare {
        output += parameter.value.utf8
      } else {
        appendString(parameter.value, to: &output)
      }
    }
    output.append(UInt8(ascii: "}"))
    return output
  }

  /// A string with its quotes. Quote, backslash and control characters are escaped, nothing else.
  static func appendString(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 { appendEscaped(byte, to: &output) }
    output.append(UInt8(ascii: "\""))
  }

  private static func appendEscaped(_ byte: UInt8, to output: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
    case 0x08: output += "\\b".utf8
    case 0x09: output += "\\t".utf8
    case 0x0A: output += "\\n".utf8
    case 0x0C: output += "\\f".utf8
    case 0x0D: output += "\\r".utf8
    case 0..<0x20: output += "\\u00\(Hexadecimal.text(byte))".utf8
    default: output.append(byte)
    }
  }

  private static func unique(_ parameters: [Parameter]) -> [Parameter] {
    // Bytes, not strings: two spellings of "é" are one string to Swift and two names to JSON.
    var places: [[UInt8]: Int] = [:]
    var kept: [Parameter] = []
    for parameter in parameters {
      let name = Array(parameter.name.utf8)
      if let place = places[name] {
        kept[place] = parameter
      } else {
        places[name] = kept.count
        kept.append(parameter)
      }
    }
    return kept
  }
}

extension Multipart {
  /// Puts fields of text before all parts.
  mutating func insertFields(_ fields: [Parameter]) {
    parts.insert(contentsOf: fields.map { Part(name: $0.name, content: .bytes(Array($0.value.utf8))) }, at: 0)
  }

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
    PercentCoding.append(name, to: &output) { $0 == UInt8(ascii: "\"") || $0 == 0x0D || $0 == 0x0A }
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
