/// What a request's own fields say about caches (RFC 9111 sections 5.2.1 and 5.4, RFC 5861 section 4).
/// `no-transform` and unknown directives are ignored.
///
/// A value that cannot be read never widens what may be served: a bad `max-age` or `min-fresh` asks for
/// validation, a bad `max-stale` permits nothing.
struct RequestDirectives: Sendable, Hashable {
  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt8
    /// Nothing stored may answer without validation.
    static let noCache = Flags(rawValue: 1)
    static let noStore = Flags(rawValue: 2)
    static let onlyIfCached = Flags(rawValue: 4)
    /// The request names another method in a field, or brings conditions that are for origins alone: what is stored
    /// cannot answer it, and its answer must not be stored as the resource.
    static let standsAlone = Flags(rawValue: 8)
    /// The caller asks itself whether something has changed.
    static let isConditional = Flags(rawValue: 16)
    /// The caller asks for parts.
    static let hasRange = Flags(rawValue: 32)
  }

  private(set) var flags: Flags = []
  /// Seconds; nil: any age.
  private(set) var maxAge: Int64?
  /// Seconds past its lifetime that an answer may be; nil: none. Without a value in the request: 2^31.
  private(set) var maxStale: Int64?
  /// Seconds for which an answer must stay fresh.
  private(set) var minFresh: Int64?
  /// Seconds past its lifetime that an answer may be when the origin fails.
  private(set) var staleIfError: Int64?

  static let none = RequestDirectives()

  private init() {}

  init(_ headers: Headers) {
    guard RequestFieldScan.mayConcernCache(headers) else { return }
    flags = RequestFieldScan.flags(headers)
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

/// Finds the few request fields that concern the cache in one pass over the block: nearly every request
/// has none of them and is done with after that. Of the three questions no is certain, and yes is not.
enum RequestFieldScan {
  /// True if some field may matter to the cache: a first letter and a beginning fit.
  static func mayConcernCache(_ headers: Headers) -> Bool {
    headers.containsLine { bytes, line in
      guard let first = line.first else { return false }
      return switch bytes[first] | 0x20 {
      case UInt8(ascii: "c"): bytes.begins(with: "cache-control:", in: line)
      case UInt8(ascii: "p"): bytes.begins(with: "pragma:", in: line)
      case UInt8(ascii: "r"): bytes.begins(with: "range:", in: line)
      case UInt8(ascii: "i"): bytes.begins(with: "if-", in: line)
      case UInt8(ascii: "x"):
        bytes.begins(with: "x-http-method", in: line) || bytes.begins(with: "x-method", in: line)
      default: false
      }
    }
  }

  /// True if some field may route the request: Host, Forwarded and the `X-` fields in their place.
  static func mayRoute(_ headers: Headers) -> Bool {
    headers.containsLine { bytes, line in
      let letter = bytes[line.lowerBound] | 0x20
      return letter == UInt8(ascii: "x") || letter == UInt8(ascii: "h") || letter == UInt8(ascii: "f")
    }
  }

  /// True if some field is not one of those that are known to say nothing of the sender.
  static func mayIdentify(_ headers: Headers) -> Bool {
    headers.containsLine { bytes, line in !isCommon(bytes, line) }
  }

  private static func isCommon(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
    switch bytes[line.lowerBound] | 0x20 {
    case UInt8(ascii: "a"):
      bytes.begins(with: "accept:", in: line) || bytes.begins(with: "accept-encoding:", in: line)
        || bytes.begins(with: "accept-language:", in: line) || bytes.begins(with: "accept-charset:", in: line)
    case UInt8(ascii: "u"): bytes.begins(with: "user-agent:", in: line)
    case UInt8(ascii: "c"):
      bytes.begins(with: "content-type:", in: line) || bytes.begins(with: "cache-control:", in: line)
    case UInt8(ascii: "i"): bytes.begins(with: "if-", in: line)
    case UInt8(ascii: "t"): bytes.begins(with: "traceparent:", in: line)
    case UInt8(ascii: "x"): bytes.begins(with: "x-request-id:", in: line)
    default: false
    }
  }

  /// Whether there is a range, a condition of the caller's own, or a field in which frameworks look for another
  /// method.
  static func flags(_ headers: Headers) -> RequestDirectives.Flags {
    var flags: RequestDirectives.Flags = []
    if aloneNames.contains(where: { headers.contains($0) }) { flags.insert(.standsAlone) }
    if headers.contains("If-None-Match") || headers.contains("If-Modified-Since") {
      flags.insert(.isConditional)
    }
    if headers.contains("Range") { flags.insert(.hasRange) }
    return flags
  }

  private static let aloneNames = [
    "If-Match", "If-Unmodified-Since", "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
  ]
}
