/// A text that must not be seen: printing, dumping and reflecting it show a mask.
package struct Secret: Sendable, Hashable {
  package let revealed: String

  package init(_ text: String) { revealed = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { Redaction.mask }
  package var debugDescription: String { Redaction.mask }
  /// `dump` goes by this; without it the stored text would be shown.
  package var customMirror: Mirror { Mirror(reflecting: Redaction.mask) }
}
