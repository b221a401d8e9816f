/// What a request's own fields say about caches (RFC 9111 sections 5.2.1 and 5.4, RFC 5861 section 4).
/// `no-transform` and unknown directives are ignored.
///
/// A value that cannot be read never widens what may be served: a bad `max-age` or `min-fresh` asks for
/// validation, a bad `max-stale` permits nothing.
struct RequestDirectives: Sendable, Hashable {
  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt8
    init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Nothing stored may answer without validation.
    static let noCache = Flags(rawValue: 1)
    static let noStore = Flags(rawValue: 2)
    static let onlyIfCached = Flags(rawValue: 4)
    /// The request asks for a part, brings conditions of its own or names another method in a field: what
    /// is stored cannot answer it, and its answer must not be stored as the resource.
    static let standsAlone = Flags(rawValue: 8)
  }

  private(set) var flags: Flags = []
  /// Seconds; nil: any age.
  private(set) var maxAge: Int64?
  /// Seconds past its lifetime that an answer may be; nil: none. Without a value in the request: 2^40.
  private(set) var maxStale: Int64?
  /// Seconds for which an answer must stay fresh.
  private(set) var minFresh: Int64?
  /// Seconds past its lifetime that an answer may be when the origin fails.
  private(set) var staleIfError: Int64?

  static let none = RequestDirectives()

  private init() {}

  init(_ headers: Headers) {
    guard RequestFieldScan.mayConcernCache(headers) else { return }
    if RequestFieldScan.standsAlone(headers) { flags.insert(.standsAlone) }
    let lines = headers.allBytes("cache-control")
    for line in lines {
      var reader = DirectiveReader(line)
      while let directive = reader.next() { note(directive) }
      // What stood in the string is unknown: ask.
      if reader.hasOpenQuote { flags.insert(.noCache) }
    }
    if lines.isEmpty { notePragma(headers) }
  }

  private mutating func note(_ directive: DirectiveReader.Directive) {
    let seconds = directive.isWellFormed ? directive.argument.flatMap { DeltaSeconds.parse($0) } : nil
    switch directive.name {
    case "no-cache": flags.insert(.noCache)
    case "no-store": flags.insert(.noStore)
    case "only-if-cached": flags.insert(.onlyIfCached)
    case "max-age": noteBound(seconds) { $0.maxAge = min($0.maxAge ?? .max, $1) }
    case "min-fresh": noteBound(seconds) { $0.minFresh = max($0.minFresh ?? 0, $1) }
    case "max-stale": noteMaxStale(directive, seconds)
    case "stale-if-error": if let seconds { staleIfError = min(staleIfError ?? .max, seconds) }
    default: break
    }
  }

  private mutating func noteBound(_ seconds: Int64?, _ apply: (inout Self, Int64) -> Void) {
    if let seconds { apply(&self, seconds) } else { flags.insert(.noCache) }
  }

  private mutating func noteMaxStale(_ directive: DirectiveReader.Directive, _ seconds: Int64?) {
    let allowed = directive.argument == nil && directive.isWellFormed ? DeltaSeconds.secondsMax : seconds
    if let allowed { maxStale = min(maxStale ?? .max, allowed) }
  }

  /// `Pragma: no-cache` means what it means in Cache-Control, when there is none (RFC 9111 section 5.4).
  private mutating func notePragma(_ headers: Headers) {
    for line in headers.allBytes("pragma") {
      var reader = DirectiveReader(line)
      while let directive = reader.next() {
        if directive.name == "no-cache" { flags.insert(.noCache) }
      }
    }
  }
}
