internal import Foundation

/// What is let through to Foundation's readers of property lists.
enum PropertyListCheck {
  /// The list, if it is XML or binary and does no harm. Without this, any word is a list of the old text form;
  /// 200 bytes of binary list, arrays of ten times the same array, keep the reader busy for years; and deep XML
  /// overflows the decoder's stack.
  static func readable(_ data: Data, contentType: String?) -> Data? {
    if data.starts(with: Array("bplist".utf8)) {
      return BinaryPropertyList([UInt8](data))?.staysInBounds ?? false ? data : nil
    }
    return XMLCheck.sound(data, contentType: contentType)
  }
}
