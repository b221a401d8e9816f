/// Text from bytes: a byte order mark decides, then the label, then UTF-8 (the order of the WHATWG
/// Encoding standard).
///
/// It never fails: what cannot be read becomes U+FFFD. The bytes stay as they are.
enum TextDecoding: Sendable, Hashable, CaseIterable {
  case utf8, ascii, windows1252, utf16BigEndian, utf16LittleEndian

  /// Decodes by the mark, else by `label` (a `charset` parameter, any case), else as UTF-8. A mark is not
  /// part of the text.
  static func decode(_ bytes: ArraySlice<UInt8>, label: String?) -> String {
    if let (encoding, length) = mark(of: bytes) { return encoding.decode(bytes.dropFirst(length)) }
    return (label.flatMap { TextDecoding(label: $0) } ?? utf8).decode(bytes)
  }

  /// Latin-1 stands for windows-1252 as everywhere on the web: the bytes where they differ are control
  /// codes in the one and quotation marks in the other. UTF-16 without a mark is little-endian, as
  /// deployed, against RFC 2781 section 4.3.
  init?(label: String) {
    switch label.asciiLowercased {
    case "utf-8", "utf8": self = .utf8
    case "us-ascii", "ascii": self = .ascii
    case "iso-8859-1", "iso8859-1", "latin1", "iso_8859-1", "l1", "windows-1252", "cp1252", "x-cp1252":
      self = .windows1252
    case "utf-16", "utf-16le", "utf16": self = .utf16LittleEndian
    case "utf-16be": self = .utf16BigEndian
    default: return nil
    }
  }

  /// The encoding that a byte order mark names, and the mark's length.
  private static func mark(of bytes: ArraySlice<UInt8>) -> (TextDecoding, Int)? {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
    if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
    if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
    return nil
  }

  func decode(_ bytes: ArraySlice<UInt8>) -> String {
    switch self {
    case .utf8: String(decoding: bytes, as: UTF8.self)
    case .ascii: Self.decodeASCII(bytes)
    case .windows1252: Self.decodeWindows1252(bytes)
    case .utf16BigEndian: Self.decodeUTF16(bytes, highFirst: true)
    case .utf16LittleEndian: Self.decodeUTF16(bytes, highFirst: false)
    }
  }

  private static func decodeASCII(_ bytes: ArraySlice<UInt8>) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in bytes { scalars.append(byte < 0x80 ? Unicode.Scalar(byte) : "\u{FFFD}") }
    return String(scalars)
  }

  private static func decodeWindows1252(_ bytes: ArraySlice<UInt8>) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in bytes {
      let isSpecial = byte & 0xE0 == 0x80
      scalars.append(isSpecial ? windows1252Specials[Int(byte & 0x1F)] : Unicode.Scalar(byte))
    }
    return String(scalars)
  }

  /// 0x80 to 0x9F; the five that are not assigned stay control codes.
  private static let windows1252Specials: [Unicode.Scalar] = [
    "\u{20AC}", "\u{81}", "\u{201A}", "\u{192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}",
    "\u{2C6}", "\u{2030}", "\u{160}", "\u{2039}", "\u{152}", "\u{8D}", "\u{17D}", "\u{8F}",
    "\u{90}", "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}",
    "\u{2DC}", "\u{2122}", "\u{161}", "\u{203A}", "\u{153}", "\u{9D}", "\u{17E}", "\u{178}",
  ]

  private static func decodeUTF16(_ bytes: ArraySlice<UInt8>, highFirst: Bool) -> String {
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count / 2 + 1)
    var index = bytes.startIndex
    while index + 1 < bytes.endIndex {
      let pair = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      units.append(highFirst ? pair.0 << 8 | pair.1 : pair.1 << 8 | pair.0)
      index += 2
    }
    // Half a unit at the end is one character that cannot be read.
    if index < bytes.endIndex { units.append(0xD800) }
    return String(decoding: units, as: UTF16.self)
  }
}
