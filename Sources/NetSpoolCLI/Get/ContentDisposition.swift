/// `Content-Disposition` as browsers read it (RFC 6266, RFC 8187), as bytes: a field may have 64 KiB.
enum ContentDisposition {
  /// The name, as a plain one; nil without. `filename*` goes before `filename`.
  static func fileName(_ field: String) -> String? {
    var (rest, plain): (ArraySlice<UInt8>, [UInt8]?) = (Array(field.utf8)[...], nil)
    while !rest.isEmpty {
      let (name, value) = parameter(&rest)
      if name == "filename*", let name = extended(value).flatMap(plainName) { return name }
      if name == "filename", plain == nil { plain = value }
    }
    return plain.flatMap(plainName)
  }

  /// Takes all up to the next semicolon that stands in no quotes. The disposition itself has a name and no value.
  private static func parameter(_ rest: inout ArraySlice<UInt8>) -> (name: String, value: [UInt8]) {
    let name = rest.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
    rest = rest[name.endIndex...]
    var value: [UInt8] = []
    if rest.first == UInt8(ascii: "=") {
      rest = rest.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
      value =
        rest.first == UInt8(ascii: "\"") ? quoted(&rest) : Array(rest.prefix { $0 != UInt8(ascii: ";") })
      while value.last == 0x20 || value.last == 0x09 { value.removeLast() }
      rest = rest.drop { $0 != UInt8(ascii: ";") }
    }
    rest = rest.dropFirst()
    // A longer name is none that is known, and text of strangers may be slow to compare.
    let text = name.count <= 64 ? String(decoding: name, as: UTF8.self) : ""
    return (text.lowercased().filter { $0 != " " && $0 != "\t" }, value)
  }

  private static func quoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    rest = rest.dropFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
    }
    return value
  }

  /// `UTF-8'en'caf%C3%A9`; nil for another coding, and for bytes that are not of it.
  private static func extended(_ value: [UInt8]) -> [UInt8]? {
    let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let bytes = OutputName.percentDecoded(parts[2])
    switch String(decoding: parts[0], as: UTF8.self).lowercased() {
    case "utf-8": return bytes.flatMap { String(validating: $0, as: UTF8.self) == nil ? nil : $0 }
    case "iso-8859-1":
      return bytes.map { Array(String(String.UnicodeScalarView($0.map(Unicode.Scalar.init))).utf8) }
    default: return nil
    }
  }

  /// What stands behind the last slash, whichever way it leans. A leading dot goes, as from a URL.
  private static func plainName(_ bytes: [UInt8]) -> String? {
    let last = bytes.split(whereSeparator: { "/\\".utf8.contains($0) }).last
    let name = last.flatMap { OutputName.fromList(String(decoding: $0, as: UTF8.self)) }
    return name.map(OutputName.visible)
  }
}
