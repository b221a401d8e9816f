/// The value of a Content-Type field (RFC 9110 section 8.3.1).
struct MediaType: Sendable, Hashable {
  /// In lower case: `text`.
  let type: String
  /// In lower case: `html`.
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

  /// A parameter's value; `name` in lower case.
  func parameter(_ name: String) -> String? {
    parameters[name].map { String(decoding: $0, as: UTF8.self) }
  }

  /// The `charset` parameter in lower case.
  var charset: String? { parameters["charset"].map { Self.lowercased($0[...]) } }

  private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
  }
}
