/// Stands at a resource's primary key when its answers vary: which fields choose, and under which
/// generation the variants are found. Without it, or with another generation, none of them is reachable.
///
/// An origin may name other fields from one answer to the next (`Vary: Foo`, then `Vary: Foo, Bar`): each
/// list of names has variants of its own, and the youngest of those that a request fits is its answer (RFC
/// 9111 section 4.1). An answer without `Vary` fits every request: its list has no names.
///
/// Bytes: 0x82, generation (8, little-endian), then the lists: the names, each ended by a NUL, and a NUL behind the last.
struct VariantIndex: Sendable, Hashable {
  /// The newest first; one at least.
  let lists: [VaryFields]
  /// Random, so that a new index finds nothing of an old one.
  let generation: UInt64

  /// More are not remembered.
  static let listsMax = 8
}

extension VariantIndex {
  /// For the first answer that varies so.
  init(fields: VaryFields, generation: UInt64 = .random(in: 0...UInt64.max)) {
    self.init(lists: [fields], generation: generation)
  }

  /// With one more list; the oldest goes when there are too many.
  func adding(_ fields: VaryFields) -> VariantIndex {
    if lists.contains(fields) { return self }
    return VariantIndex(lists: [fields] + lists.prefix(Self.listsMax - 1), generation: generation)
  }

  static let mark: UInt8 = 0x82

  func encode() -> [UInt8] {
    var bytes = [Self.mark]
    bytes.append(integer: generation)
    for list in lists {
      for name in list.names {
        bytes += name.utf8
        bytes.append(0)
      }
      bytes.append(0)
    }
    return bytes
  }

  /// Nil for bytes that `encode` did not write.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount >= 10, bytes.byteCount <= 65_536 else { return nil }
    let all = [UInt8](bytes)
    guard all[0] == Self.mark, all.last == 0 else { return nil }
    var lists: [VaryFields] = []
    var names: [String] = []
    // The last name's NUL and the last list's are two ends.
    for name in all[9...].dropLast().split(separator: 0, omittingEmptySubsequences: false) {
      if !name.isEmpty {
        guard name.allSatisfy(\.isTokenByte) else { return nil }
        names.append(String(decoding: name, as: UTF8.self))
        continue
      }
      let list = VaryFields(names: names)
      guard list.names == names, !lists.contains(list) else { return nil }
      lists.append(list)
      names = []
    }
    guard names.isEmpty, (1...Self.listsMax).contains(lists.count) else { return nil }
    self.init(lists: lists, generation: all.rawBytes.integer(at: 1))
  }
}

/// The request fields that chose an answer (RFC 9110 section 12.5.5), and their values in one request.
struct VaryFields: Sendable, Hashable {
  /// Lower case, sorted, each once; empty: the answer is the same for every request.
  let names: [String]

  init(names: [String]) {
    self.names = names.count < 2 ? names : Array(Set(names)).sorted()
  }

  /// Nil for `*`, anywhere in the list, and for what is no list of names: no later request can be known to
  /// match (RFC 9111 section 4.1).
  init?(_ headers: Headers) { self.init(lines: headers.allBytes("vary")) }

  init?(_ fields: AnswerFields) { self.init(lines: fields.all(.vary)) }

  private init?(lines: [ArraySlice<UInt8>]) {
    var names: [String] = []
    for line in lines {
      guard let parsed = FieldNames.parse(line), !parsed.contains("*") else { return nil }
      names += parsed
    }
    self.init(names: names)
  }

  var isEmpty: Bool { names.isEmpty }

}

/// The value of a request field in the form in which two are compared (RFC 9111 section 4.1): lines of one
/// name combined, blanks around commas dropped, case dropped where the field does not know it.
///
/// No order is changed: `en, de` and `de, en` are equal by the letter of RFC 9110 section 12.5.4, but the
/// same section knows that servers prefer the first.
enum SelectingValue {
  /// Nil if the field is absent. A secret comes out as a keyed hash, so that none is written down.
  static func normalised(_ name: String, in request: Headers, _ meaning: FieldMeaning = .standard) -> [UInt8]?
  {
    let lines = request.allBytes(name)
    guard let first = lines.first else { return nil }
    if meaning.isSecret(name) { return secret(lines) }
    if singletons.contains(name), lines.count == 1 { return Array(first) }
    var value: [UInt8] = []
    for (index, line) in lines.enumerated() {
      if index > 0 { value.append(UInt8(ascii: ",")) }
      appendList(line, to: &value)
    }
    return caseless.contains(name) ? value.map(\.asciiLowercased) : value
  }

  private static func secret(_ lines: [ArraySlice<UInt8>]) -> [UInt8] {
    Array(Hexadecimal.text(ProcessSecret.hash(lines.map { Array($0) })).utf8)
  }

  /// Appends `line` without blanks at its ends and around commas, except inside quoted strings.
  private static func appendList(_ line: ArraySlice<UInt8>, to value: inout [UInt8]) {
    var isQuoted = false
    var isEscaped = false
    var start = value.count
    for byte in line {
      if !isQuoted, byte.isBlank, value.count == start { continue }
      if !isQuoted, byte == UInt8(ascii: ",") {
        dropBlanks(&value, downTo: start)
        value.append(byte)
        start = value.count
        continue
      }
      if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
      value.append(byte)
    }
    if !isQuoted { dropBlanks(&value, downTo: start) }
  }

  private static func dropBlanks(_ value: inout [UInt8], downTo start: Int) {
    while value.count > start, value[value.count - 1].isBlank { value.removeLast() }
  }

  /// A comma in these is text.
  private static let singletons: Set<String> = [
    "user-agent", "referer", "origin", "host", "from", "date", "if-modified-since", "if-unmodified-since",
    "content-type", "x-forwarded-host",
  ]

  /// RFC 9110 sections 8.4.1, 8.5.1 and 12.5.2.
  private static let caseless: Set<String> = ["accept-encoding", "accept-language", "accept-charset"]
}

/// What stands at a resource's primary key: its only answer, or where its variants are.
enum PrimaryEntry: Sendable, Hashable {
  case response(StoredResponse)
  case variants(VariantIndex)

  /// Nil for anything else; the entry is then damaged or of another version.
  init?(decoding bytes: RawSpan, rules: CacheRules) {
    if bytes.byteCount > 0, bytes.byte(at: 0) == VariantIndex.mark {
      guard let index = VariantIndex(decoding: bytes) else { return nil }
      self = .variants(index)
    } else {
      guard let response = StoredResponse(decoding: bytes, rules: rules) else { return nil }
      self = .response(response)
    }
  }
}
