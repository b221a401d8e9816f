/// File names from hostile text: a response header or a URL must not choose where a file lands, nor look
/// like an option, a hidden file or another name.
enum FileName {
  /// Bytes of a name; 255, the limit of Linux file systems.
  static let bytesMax = 255
  /// What a name becomes of which nothing is left.
  static let fallback = "download"

  /// One clean base name: no separators, no `..`, no dot, dash, tilde or blank in front, no control or
  /// invisible direction characters, not empty, at most 255 bytes and whole characters. A name that is
  /// already clean stays as it is.
  static func sanitised(_ text: String) -> String {
    let components = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }
    var scalars = String.UnicodeScalarView()
    for component in components.reversed() where scalars.isEmpty {
      scalars = trimmed(component.filter { !isDropped($0) })
    }
    return scalars.isEmpty ? fallback : shortened(String(scalars))
  }

  /// The name that a URL's path ends in, its escapes decoded once. Query and fragment are ignored.
  static func fromURLPath(_ path: String) -> String {
    let path = Array(path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    let last = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []
    return sanitised(String(decoding: PercentCoding.decode(last), as: UTF8.self))
  }
}

extension FileName {
  /// A leading dot hides the file, a dash makes an option of it, a tilde a home directory; blanks and
  /// dots at the end vanish on other systems, where two names would then be one.
  private static func trimmed(_ name: Substring.UnicodeScalarView) -> String.UnicodeScalarView {
    var rest = name.drop { ".-~".unicodeScalars.contains($0) || $0.properties.isWhitespace }
    while let last = rest.last, last == "." || last.properties.isWhitespace { rest.removeLast() }
    return String.UnicodeScalarView(rest)
  }

  /// Control characters, line separators, and format characters: those that turn the writing direction
  /// make `exe.gpj` read as `jpg.exe`, the others cannot be seen. The two joiners stay, emoji and some
  /// scripts need them.
  private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
    case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
    default: false
    }
  }

  /// Cuts between characters, before the extension rather than in it.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > bytesMax else { return name }
    let ending = fileExtension(of: name)
    var stem = prefix(of: name.dropLast(ending.count), bytes: bytesMax - ending.utf8.count)
    if stem.isEmpty { stem = fallback }
    // The cut may have laid bare a blank or dot that must not end a name.
    return String(trimmed(Substring(stem + ending).unicodeScalars))
  }

  /// The dot and what follows, if it is short enough to be an extension.
  private static func fileExtension(of name: String) -> Substring {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return "" }
    let ending = name[dot...]
    return ending.utf8.count <= 16 ? ending : ""
  }

  private static func prefix(of text: Substring, bytes: Int) -> String {
    var result = ""
    var room = bytes
    for character in text {
      room -= character.utf8.count
      guard room >= 0 else { break }
      result.append(character)
    }
    return result
  }
}

/// The file name in a Content-Disposition field (RFC 6266), as the origin wrote it: hostile until
/// `FileName.sanitised(_:)` has seen it.
enum ContentDisposition {
  /// `filename*` if it can be read, else `filename`; nil if there is neither.
  static func fileName(_ value: ArraySlice<UInt8>) -> String? {
    let type = value.drop(while: \.isBlank).prefix(while: \.isTokenByte)
    // Some servers leave the type out, so the parameters may stand alone.
    let rest = value[type.endIndex...]
    let startsWithParameter = rest.drop(while: \.isBlank).first == UInt8(ascii: "=")
    let parameters = HeaderParameters(startsWithParameter ? (";".utf8 + value)[...] : rest)
    return parameters["filename*"].flatMap { extended($0[...]) } ?? parameters["filename"].map(plain)
  }

  static func fileName(_ value: String) -> String? { fileName(Array(value.utf8)[...]) }

  /// `UTF-8'en'na%C3%AFve.txt` (RFC 8187 section 3.2); nil for a charset that is not required there.
  private static func extended(_ value: ArraySlice<UInt8>) -> String? {
    let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let bytes = PercentCoding.decode(parts[2])[...]
    switch String(decoding: parts[0].map(\.asciiLowercased), as: UTF8.self) {
    case "utf-8": return String(validating: bytes, as: UTF8.self)
    case "iso-8859-1": return TextDecoding.windows1252.decode(bytes).text
    default: return nil
    }
  }

  /// UTF-8 when it is, else Latin-1, which is what the field's grammar meant.
  private static func plain(_ value: [UInt8]) -> String {
    String(validating: value, as: UTF8.self) ?? TextDecoding.windows1252.decode(value[...]).text
  }
}
