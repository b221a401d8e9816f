import ArgumentParser

/// A `--header 'Name: value'`.
struct HeaderField: Equatable, Sendable, ExpressibleByArgument {
  let name: String
  let value: String

  /// Nil unless the name is a token (RFC 9110 section 5.6.2) and the value has no line break or NUL.
  init?(argument: String) {
    guard let colon = argument.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    name = String(argument[..<colon])
    value = argument[argument.utf8.index(after: colon)...].trimmingBlanks
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else { return nil }
    guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
  }

  static func isTokenByte(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}

extension Substring {
  fileprivate var trimmingBlanks: String {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }
}
