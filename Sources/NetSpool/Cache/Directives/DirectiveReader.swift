/// Takes a Cache-Control value apart: `#( token [ "=" ( token / quoted-string ) ] )` (RFC 9111 section
/// 5.2, RFC 9110 sections 5.6.1 to 5.6.4).
///
/// What is not of this form is never lost silently: a directive with something behind it is handed out as
/// not well formed, and a quoted string that does not end hides nothing that follows its quote, so that
/// nobody can slip a `no-store` past.
struct DirectiveReader {
  struct Directive {
    /// In lower case.
    let name: String
    /// Without quotes and escapes; nil without `=`.
    let argument: ArraySlice<UInt8>?
    /// False when something else stood between it and the next comma.
    let isWellFormed: Bool
  }

  private var rest: ArraySlice<UInt8>
  /// A quoted string had no end: directives after its quote may have been meant as text.
  private(set) var hasOpenQuote = false

  init(_ value: ArraySlice<UInt8>) { rest = value }

  mutating func next() -> Directive? {
    while true {
      rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ",") }
      guard !rest.isEmpty else { return nil }
      let name = rest.prefix(while: \.isTokenByte)
      rest = rest.dropFirst(name.count)
      if !name.isEmpty { return directive(name) }
      _ = reachesEnd()
    }
  }

  private mutating func directive(_ name: ArraySlice<UInt8>) -> Directive {
    var argument: ArraySlice<UInt8>?
    var isWellFormed = true
    if rest.first == UInt8(ascii: "=") {
      rest.removeFirst()
      argument = takeArgument()
      isWellFormed = argument != nil
      if argument == nil { argument = [] }
    }
    if !reachesEnd() { isWellFormed = false }
    let text = String(decoding: name.map(\.asciiLowercased), as: UTF8.self)
    return Directive(name: text, argument: argument, isWellFormed: isWellFormed)
  }

  /// Nil if there is none: an empty token or a quoted string without end.
  private mutating func takeArgument() -> ArraySlice<UInt8>? {
    if rest.first == UInt8(ascii: "\"") { return takeQuoted() }
    let token = rest.prefix(while: \.isTokenByte)
    rest = rest.dropFirst(token.count)
    return token.isEmpty ? nil : token
  }

  private mutating func takeQuoted() -> ArraySlice<UInt8>? {
    var ahead = rest.dropFirst()
    var value: [UInt8] = []
    while let byte = ahead.popFirst() {
      if byte == UInt8(ascii: "\"") {
        rest = ahead
        return value[...]
      }
      if byte != UInt8(ascii: "\\") {
        value.append(byte)
      } else if let escaped = ahead.popFirst() {
        value.append(escaped)
      }
    }
    hasOpenQuote = true
    return nil
  }

  /// Goes on to the next comma; false if anything but blanks was in between.
  private mutating func reachesEnd() -> Bool {
    let between = rest.prefix { $0 != UInt8(ascii: ",") }
    rest = rest.dropFirst(between.count)
    return between.allSatisfy(\.isBlank)
  }
}
