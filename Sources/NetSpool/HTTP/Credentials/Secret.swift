/// A text that must not be seen: printing, dumping and reflecting it show a mask.
struct Secret: Sendable, Hashable {
  let revealed: String

  init(_ text: String) { revealed = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { Redaction.mask }
  var debugDescription: String { Redaction.mask }
  /// `dump` goes by this; without it the stored text would be shown.
  var customMirror: Mirror { Mirror(reflecting: Redaction.mask) }
}
