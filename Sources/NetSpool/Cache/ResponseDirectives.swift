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
    default: if directive.isWellFormed { notePermission(directive.name) }
    }
  }

  private mutating func notePermission(_ name: String) {
    switch name {
    case "public": flags.insert(.isPublic)
    case "must-understand": flags.insert(.mustUnderstand)
    case "immutable": flags.insert(.immutable)
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
