/// A name with its value, as a query, a form or a flat JSON object carries it. Order and repeats count.
struct Parameter: Hashable, Sendable {
  var name: String
  var value: String

  init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
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

/// A JSON object whose values are all strings (RFC 8259), for parameters sent as JSON.
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
      appendString(parameter.value, to: &output)
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
        kept[place].value = parameter.value
      } else {
        places[name] = kept.count
        kept.append(parameter)
      }
    }
    return kept
  }
}
