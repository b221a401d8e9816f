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

  /// The fields of these names, normalised, one line each; an absent field stays absent, an empty one is
  /// there. Secrets come out as a keyed hash, so that none is written down.
  func selected(from request: Headers) -> Headers {
    var selected = Headers()
    for name in names {
      guard let value = SelectingValue.normalised(name, in: request) else { continue }
      selected.append(name: name.utf8, value: value)
    }
    return selected
  }

  /// The request would have chosen the answer that `variant` chose (RFC 9111 section 4.1).
  func matches(_ request: Headers, variant: Headers) -> Bool {
    names.isEmpty || selected(from: request) == variant
  }
}
