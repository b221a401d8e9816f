/// The value of a Content-Type field (RFC 9110 section 8.3.1).
struct MediaType: Sendable, Hashable {
  /// The first half in lower case: `text`.
  let type: String
  /// The second half in lower case: `html`.
  let subtype: String
  private let parameters: HeaderParameters

  /// Nil unless it begins with `type/subtype`.
  init?(_ value: ArraySlice<UInt8>) {
    let value = value.drop(while: \.isBlank)
    let type = value.prefix(while: \.isTokenByte)
    var rest = value.dropFirst(type.count)
    guard !type.isEmpty, rest.popFirst() == UInt8(ascii: "/") else { return nil }
    let subtype = rest.prefix(while: \.isTokenByte)
    guard !subtype.isEmpty else { return nil }
    self.type = Self.lowercased(type)
    self.subtype = Self.lowercased(subtype)
    parameters = HeaderParameters(rest.dropFirst(subtype.count))
  }

  init?(_ value: String) { self.init(Array(value.utf8)[...]) }

  /// The `charset` parameter in lower case.
  var charset: String? { parameters["charset"].map { Self.lowercased($0[...]) } }

  private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
  }
}

/// The `; name=value` list behind a media type or disposition (RFC 9110 section 5.6.6).
///
/// Lenient as to blanks and empty elements, and it stops at the first thing it cannot read: what came
/// before still counts.
struct HeaderParameters: Sendable, Hashable {
  /// A parameter; the value without quotes and escapes, as bytes, since `filename` may be anything.
  struct Parameter: Sendable, Hashable {
    /// In lower case.
    let name: String
    let value: [UInt8]
  }

  private(set) var list: [Parameter] = []

  /// Reads from the first `;` on.
  init(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while Self.skipSeparators(&rest) {
      guard let parameter = Self.parameter(&rest) else { return }
      list.append(parameter)
    }
  }

  /// The first value of this name, which is given in lower case.
  subscript(name: String) -> [UInt8]? { list.first { $0.name == name }?.value }

  /// Answers whether a separator was there and something follows it.
  private static func skipSeparators(_ rest: inout ArraySlice<UInt8>) -> Bool {
    rest = rest.drop(while: \.isBlank)
    guard rest.first == UInt8(ascii: ";") else { return false }
    rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ";") }
    return !rest.isEmpty
  }

  private static func parameter(_ rest: inout ArraySlice<UInt8>) -> Parameter? {
    let name = rest.prefix(while: \.isTokenByte)
    rest = rest.dropFirst(name.count).drop(while: \.isBlank)
    guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { return nil }
    rest = rest.drop(while: \.isBlank)
    let value = rest.first == UInt8(ascii: "\"") ? rest.takeQuoted() : plain(&rest)
    guard let value else { return nil }
    return Parameter(name: String(decoding: name.map(\.asciiLowercased), as: UTF8.self), value: value)
  }

  /// A token, and what servers send in its place: anything up to the next `;`.
  private static func plain(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
    var value = Array(rest[..<end])
    while let last = value.last, last.isBlank { value.removeLast() }
    rest = rest[end...]
    return value
  }
}
