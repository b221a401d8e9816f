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
