/// The start tags of a document, without a parser: libxml2 compares each attribute of an element with all others
/// before it reports the first.
enum XMLTags {
  static let attributesMax = 256

  /// A tag has more attributes than that.
  ///
  /// No value has a `<` in it (XML 1.0 section 3.1), so every tag begins anew at one, whatever came before. In
  /// comments and CDATA this takes something for a tag that is none; that it is refused for 257 equals signs
  /// there is the price.
  static func haveTooManyAttributes(_ text: String) -> Bool {
    var isInTag = false
    var attributes = 0
    var quote: UInt8?
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "<"): (isInTag, attributes, quote) = (true, 0, nil)
      case _ where !isInTag: break
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        if quote == nil { quote = byte } else if quote == byte { quote = nil }
      case _ where quote != nil: break
      case UInt8(ascii: ">"): isInTag = false
      case UInt8(ascii: "="):
        attributes += 1
        if attributes > attributesMax { return true }
      default: break
      }
    }
    return false
  }
}
