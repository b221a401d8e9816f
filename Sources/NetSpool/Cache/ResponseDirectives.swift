/// Cache-Control of a response (RFC 9111 section 5.2.2, RFC 5861, RFC 8246). Unknown directives are
/// ignored, several lines are one list.
///
/// In doubt the restrictive reading wins: `no-store`, `no-cache`, `private` and the revalidation
/// directives count whatever stands behind them; those that permit something count only when well formed.
struct ResponseDirectives: Equatable {
  struct Flags: OptionSet {
    let rawValue: UInt16
    static let noStore = Flags(rawValue: 1)
    /// Without field names: the whole answer must be asked for again.
    static let noCache = Flags(rawValue: 2)
    /// Without field names: the whole answer is for one user.
    static let isPrivate = Flags(rawValue: 4)
    static let isPublic = Flags(rawValue: 8)
    static let mustRevalidate = Flags(rawValue: 16)
    static let proxyRevalidate = Flags(rawValue: 32)
    static let mustUnderstand = Flags(rawValue: 64)
    static let immutable = Flags(rawValue: 128)
    /// A quoted string did not end: no lifetime in it can be believed.
    static let hasOpenQuote = Flags(rawValue: 256)
  }

  private(set) var flags: Flags = []
  private(set) var maxAge = DeltaSeconds.absent
  private(set) var sMaxAge = DeltaSeconds.absent
  private(set) var staleWhileRevalidate = DeltaSeconds.absent
  private(set) var staleIfError = DeltaSeconds.absent
  /// The field names of `no-cache="…"`, in lower case.
  private(set) var noCacheFields: [String] = []
  /// The field names of `private="…"`, in lower case.
  private(set) var privateFields: [String] = []

  init(_ headers: Headers) { self.init(AnswerFields(headers)) }

  init(_ fields: AnswerFields) {
    for value in fields.all(.cacheControl) {
      var reader = DirectiveReader(value)
      while let directive = reader.next() { note(directive) }
      if reader.hasOpenQuote { flags.insert(.hasOpenQuote) }
    }
  }

  private mutating func note(_ directive: DirectiveReader.Directive) {
    switch directive.name {
    case "no-store": flags.insert(.noStore)
    case "must-revalidate": flags.insert(.mustRevalidate)
    case "proxy-revalidate": flags.insert(.proxyRevalidate)
    case "no-cache": noteFields(directive, .noCache, \.noCacheFields)
    case "private": noteFields(directive, .isPrivate, \.privateFields)
    case "max-age": maxAge.note(directive)
    case "s-maxage": sMaxAge.note(directive)
    case "stale-while-revalidate": staleWhileRevalidate.note(directive)
    case "stale-if-error": staleIfError.note(directive)
    case "public" where directive.isWellFormed: flags.insert(.isPublic)
    case "must-understand" where directive.isWellFormed: flags.insert(.mustUnderstand)
    case "immutable" where directive.isWellFormed: flags.insert(.immutable)
    default: break
    }
  }

  /// With an argument that is a list of field names the directive is about those fields only (RFC 9111
  /// sections 5.2.2.4 and 5.2.2.7); with any other it is about the whole answer.
  private mutating func noteFields(
    _ directive: DirectiveReader.Directive, _ flag: Flags, _ fields: WritableKeyPath<Self, [String]>
  ) {
    guard directive.isWellFormed, let names = directive.argument.flatMap(FieldNames.parse), !names.isEmpty
    else {
      flags.insert(flag)
      return
    }
    self[keyPath: fields] += names
  }
}

/// Takes a Cache-Control value apart: `#( token [ "=" ( token / quoted-string ) ] )` (RFC 9111 section
/// 5.2, RFC 9110 sections 5.6.1 to 5.6.4).
///
/// What is not of this form is never lost silently: a directive with something behind it is handed out as
/// not well formed, and a quoted string that does not end hides nothing that follows its quote, so that
/// no `no-store` can be slipped past.
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
    if rest.first == UInt8(ascii: "\"") {
      let quoted = rest.takeQuoted()
      if quoted == nil { hasOpenQuote = true }
      return quoted?[...]
    }
    let token = rest.prefix(while: \.isTokenByte)
    rest = rest.dropFirst(token.count)
    return token.isEmpty ? nil : token
  }

  /// Goes on to the next comma; false if anything but blanks was in between.
  private mutating func reachesEnd() -> Bool {
    let between = rest.prefix { $0 != UInt8(ascii: ",") }
    rest = rest.dropFirst(between.count)
    return between.allSatisfy(\.isBlank)
  }
}

/// A number of seconds in a directive, or that it is missing or worthless.
enum DeltaSeconds: Equatable {
  case absent
  case seconds(Int64)
  /// Not a number, or said twice with two values.
  case invalid

  /// What larger numbers are cut to (RFC 9111 section 1.2.2): 68 years. Sums of several cannot overflow.
  static let secondsMax: Int64 = 1 << 31

  /// 1*DIGIT (RFC 9111 section 1.2.2), however many; nil for anything else.
  static func parse(_ digits: some Collection<UInt8>) -> Int64? {
    guard !digits.isEmpty else { return nil }
    var value: Int64 = 0
    for digit in digits {
      guard digit.isASCIIDigit else { return nil }
      value = min(value * 10 + Int64(digit - 0x30), secondsMax)
    }
    return value
  }

  /// Notes a further mention: the same number again is harmless, another one makes both worthless (RFC
  /// 9111 section 4.2.1).
  mutating func note(_ directive: DirectiveReader.Directive) {
    let seconds = directive.isWellFormed ? directive.argument.flatMap { Self.parse($0) } : nil
    let new = seconds.map(Self.seconds) ?? .invalid
    self = self == .absent || self == new ? new : .invalid
  }

  var value: Int64? {
    if case .seconds(let value) = self { value } else { nil }
  }
}
