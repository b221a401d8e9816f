internal import Foundation

/// What is let through to Foundation's reader of property lists.
enum PropertyListCheck {
  /// It is XML or a binary list that does not unfold. Without this, any word is a list of the old text form, and
  /// 200 bytes of binary list, arrays of ten times the same array, keep the reader busy for years.
  static func isReadable(_ data: Data) -> Bool {
    if data.starts(with: Array("bplist".utf8)) {
      return BinaryPropertyList([UInt8](data))?.staysInBounds ?? false
    }
    return firstSign(data) == UInt8(ascii: "<")
  }

  /// The first byte that is neither part of a byte order mark nor blank. UTF-16 has a NUL beside it.
  private static func firstSign(_ data: Data) -> UInt8? {
    data.first { ![0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0x00, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
  }
}
