/// The response fields that the cache reads, found in one pass over the block instead of one for each name:
/// an answer is looked at some twenty times before it is stored.
struct AnswerFields {
  /// Each by the number of its place.
  enum Name: Int, CaseIterable {
    case age, cacheControl, connection, contentType, date, etag, expires, lastModified, setCookie, setCookie2,
      vary

    /// In the order of the cases.
    static let texts = [
      "age", "cache-control", "connection", "content-type", "date", "etag", "expires", "last-modified",
      "set-cookie", "set-cookie2", "vary",
    ]
  }

  let headers: Headers
  /// The range of the first value of each name; empty and at 0 if there is none.
  private var values = InlineArray<11, Range<Int>>(repeating: 0..<0)
  /// A bit for each name that has more than one line.
  private var repeated: UInt16 = 0

  init(_ headers: Headers) {
    self.headers = headers
    _ = headers.containsLine { bytes, line in
      if let (name, value) = Self.known(bytes, line) { note(name, value..<(line.upperBound - 1)) }
      return false
    }
  }

  private mutating func note(_ name: Name, _ value: Range<Int>) {
    if values[name.rawValue].lowerBound > 0 {
      repeated |= 1 << UInt16(name.rawValue)
    } else {
      values[name.rawValue] = value
    }
  }

  /// The first value of this name.
  @inline(__always)  // else all of this is copied for each
  subscript(name: Name) -> ArraySlice<UInt8>? {
    let value = values[name.rawValue]
    return value.lowerBound > 0 ? headers.block[value] : nil
  }

  /// Every value of this name, in order.
  func all(_ name: Name) -> [ArraySlice<UInt8>] {
    if repeated & (1 << UInt16(name.rawValue)) != 0 { return headers.allBytes(Name.texts[name.rawValue]) }
    return self[name].map { [$0] } ?? []
  }

  func contains(_ name: Name) -> Bool { values[name.rawValue].lowerBound > 0 }

  var setsCookie: Bool { contains(.setCookie) || contains(.setCookie2) }

  /// Finds which field the line is and where its value begins; nil for all others.
  private static func known(_ bytes: Span<UInt8>, _ line: Range<Int>) -> (Name, value: Int)? {
    guard let first = line.first else { return nil }
    return switch bytes[first] | 0x20 {
    case UInt8(ascii: "a"): match(bytes, line, "age:", .age)
    case UInt8(ascii: "c"):
      match(bytes, line, "cache-control:", .cacheControl) ?? match(bytes, line, "connection:", .connection)
        ?? match(bytes, line, "content-type:", .contentType)
    case UInt8(ascii: "d"): match(bytes, line, "date:", .date)
    case UInt8(ascii: "e"): match(bytes, line, "etag:", .etag) ?? match(bytes, line, "expires:", .expires)
    case UInt8(ascii: "l"): match(bytes, line, "last-modified:", .lastModified)
    case UInt8(ascii: "s"):
      match(bytes, line, "set-cookie:", .setCookie) ?? match(bytes, line, "set-cookie2:", .setCookie2)
    case UInt8(ascii: "v"): match(bytes, line, "vary:", .vary)
    default: nil
    }
  }

  private static func match(
    _ bytes: Span<UInt8>, _ line: Range<Int>, _ text: StaticString, _ name: Name
  ) -> (Name, value: Int)? {
    let value = line.lowerBound + text.utf8CodeUnitCount + 1
    // The colon tells nearly all apart by the length of their names.
    guard value < line.upperBound, bytes[value - 2] == UInt8(ascii: ":"),
      bytes.equals(text, in: line.lowerBound..<(value - 1))
    else { return nil }
    return (name, value)
  }
}

/// What deciding about a stored answer needs, worked out once when it is stored: a hit reads no header
/// text.
struct ResponseFacts: Sendable, Hashable {
  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt32
    /// `must-revalidate` or `no-cache`; for a shared cache also `proxy-revalidate` or `s-maxage`: never
    /// used stale, whatever the reason (RFC 9111 section 4.2.4).
    static let forbidsStale = Flags(rawValue: 1)
    /// Not asked for again while fresh, even on a reload (RFC 8246).
    static let immutable = Flags(rawValue: 2)
    /// The response has an ETag or Last-Modified that can be asked with.
    static let hasValidator = Flags(rawValue: 4)
    /// The lifetime is the origin's, not a heuristic one.
    static let isExplicit = Flags(rawValue: 8)
    /// The answer names request fields in Vary.
    static let varies = Flags(rawValue: 16)
    /// The bytes that are stored are what a `Content-Encoding` was undone of: the field tells how they came.
    static let isDecoded = Flags(rawValue: 32)

    static let all = Flags(rawValue: 63)

    fileprivate mutating func set(_ flag: Self, _ isOn: Bool) {
      if isOn { insert(flag) } else { remove(flag) }
    }
  }

  var flags: Flags = []
  /// Freshness lifetime in seconds (RFC 9111 section 4.2.1); 0: stale at once.
  var lifetime: Int64 = 0
  /// `corrected_initial_age` in milliseconds (RFC 9111 section 4.2.3).
  var initialAge: Int64 = 0
  /// Seconds past the lifetime in which a background renewal is enough (RFC 5861 section 3).
  var staleWhileRevalidate: Int64 = 0
  /// Seconds past the lifetime in which it may stand in for an error (RFC 5861 section 4).
  var staleIfError: Int64 = 0
  /// The fingerprint of the rules that gave these numbers.
  var rules: UInt64 = 0
}

extension ResponseFacts {
  /// Everything that can be known when the answer comes. `fields` as they were received; `date`: of the answer,
  /// in seconds since 1970.
  init(
    status: Int, fields: AnswerFields, directives: ResponseDirectives, date: Int64, requestedAt: Int64,
    receivedAt: Int64, rules: CacheRules
  ) {
    initialAge =
      InitialAge(fields, date: date, requestedAt: requestedAt, receivedAt: receivedAt).milliseconds
    setLifetime(status: status, fields: fields, directives: directives, date: date, rules: rules)
  }

  /// The part that depends on the rules alone, so that a store outlives a change of the rules.
  mutating func setLifetime(
    status: Int, fields: AnswerFields, directives: ResponseDirectives, date: Int64, rules: CacheRules
  ) {
    let freshness = FreshnessLifetime(
      status: status, fields: fields, directives: directives, date: date, rules: rules)
    lifetime = freshness.seconds
    staleWhileRevalidate = directives.staleWhileRevalidate.value ?? 0
    staleIfError = directives.staleIfError.value ?? 0
    self.rules = rules.fingerprint
    flags.set(.isExplicit, freshness.isExplicit)
    flags.set(.forbidsStale, Self.forbidsStale(directives, rules))
    flags.set(.immutable, directives.flags.contains(.immutable))
    flags.set(.hasValidator, Validators.entityTag(fields) != nil || Validators.lastModified(fields) != nil)
    flags.set(.varies, fields.contains(.vary))
  }

  private static func forbidsStale(_ directives: ResponseDirectives, _ rules: CacheRules) -> Bool {
    if !directives.flags.isDisjoint(with: [.mustRevalidate, .noCache]) { return true }
    // `s-maxage` has the meaning of `proxy-revalidate` (RFC 9111 section 5.2.2.10).
    return rules.isShared && (directives.flags.contains(.proxyRevalidate) || directives.sMaxAge != .absent)
  }

  /// Seconds since 1970; the time of receipt stands in for a Date that is missing or unreadable (RFC 9110
  /// section 6.6.1).
  static func date(_ fields: AnswerFields, receivedAt: Int64) -> Int64 {
    saidDate(fields, receivedAt: receivedAt) ?? InitialAge.seconds(receivedAt)
  }

  /// Nil if it is missing or unreadable.
  static func saidDate(_ fields: AnswerFields, receivedAt: Int64) -> Int64? {
    fields[.date].flatMap { HTTPDate.parse($0, now: InitialAge.seconds(receivedAt)) }
  }
}
