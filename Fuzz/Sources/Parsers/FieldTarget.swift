@testable import NetSpool

/// The value of one field; the first byte chooses which.
enum FieldTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let check = checks[input.number(below: checks.count)]
    check(input.rest)
  }

  private static let checks: [@Sendable (ArraySlice<UInt8>) -> Void] = [
    cacheControl, requestControl, names, date, retryAfter, contentRange, mediaType, age, validators,
  ]

  /// Noon of a day in 2024: what the century of a two-digit year is told by.
  private static let now: Int64 = 1_720_000_000

  // MARK: Cache-Control

  private static func cacheControl(_ value: ArraySlice<UInt8>) {
    let directives = ResponseDirectives(fields("Cache-Control", value))
    for age in [directives.maxAge, directives.sMaxAge, directives.staleIfError] {
      require((0...DeltaSeconds.secondsMax).contains(age.value ?? 0), "a lifetime is within bounds")
    }
    for name in directives.noCacheFields + directives.privateFields {
      require(!name.isEmpty && name.utf8.allSatisfy(\.isTokenByte), "a field name is a token")
    }
    // Nothing that stands before it may hide it.
    let more = ResponseDirectives(fields("Cache-Control", value + ", no-store".utf8))
    require(more.flags.contains(.noStore), "no-store at the end is seen")
    require(more.flags.isSuperset(of: directives.flags.intersection(restrictive)), "a restriction stays")
  }

  private static let restrictive: ResponseDirectives.Flags = [
    .noStore, .noCache, .isPrivate, .mustRevalidate, .proxyRevalidate,
  ]

  private static func requestControl(_ value: ArraySlice<UInt8>) {
    let one = RequestDirectives(fields("Cache-Control", value))
    let twice = fields("Cache-Control", value) + fields("cache-control", value)
    require(RequestDirectives(twice) == one, "saying it twice changes nothing")
    let more = RequestDirectives(fields("Cache-Control", value + ", no-store".utf8))
    require(more.flags.contains(.noStore), "no-store at the end is seen")
  }

  // MARK: Lists and dates

  private static func names(_ value: ArraySlice<UInt8>) {
    guard let vary = VaryFields(fields("Vary", value)) else { return }
    require(vary.names == vary.names.sorted() && Set(vary.names).count == vary.names.count, "names are a set")
    guard !vary.isEmpty else { return }
    let index = VariantIndex(fields: vary, generation: 7)
    _ = CacheKey.variant(index, of: [], headers: fields("Accept-Encoding", value) + fields("X-Own", value))
    require(VariantIndex(decoding: index.encode().rawBytes) == index, "an index is read back as it was")
  }

  private static func date(_ value: ArraySlice<UInt8>) {
    guard let seconds = HTTPDate.parse(value, now: now) else { return }
    require(HTTPDate.parse(HTTPDate.format(seconds)) == seconds, "a date is written as it was read")
  }

  private static func retryAfter(_ value: ArraySlice<UInt8>) {
    guard let seconds = RetryAfter.parse(value, now: now) else { return }
    require((0...RetryAfter.secondsMax).contains(seconds), "a wait is within bounds")
  }

  private static func contentRange(_ value: ArraySlice<UInt8>) {
    guard let range = ContentRange.parse(value) else { return }
    require((range.range?.lowerBound ?? 0) >= 0 && (range.total ?? 0) >= 0, "positions are not negative")
    if let last = range.range?.upperBound, let total = range.total { require(last < total, "it lies inside") }
    let text = "\(range.range.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*")/"
    let whole = "bytes " + text + (range.total.map(String.init) ?? "*")
    require(ContentRange.parse(Array(whole.utf8)[...]) == range, "a range is written as it was read")
  }

  private static func mediaType(_ value: ArraySlice<UInt8>) {
    guard let type = MediaType(value) else { return }
    let plain = MediaType("\(type.type)/\(type.subtype)")
    require(plain?.type == type.type && plain?.subtype == type.subtype, "a type is read as it was written")
    _ = TextDecoding.decode(value, label: type.charset)
  }

  private static func age(_ value: ArraySlice<UInt8>) {
    for headers in [fields("Age", value), fields("Date", value)] {
      let fields = AnswerFields(headers)
      let age = InitialAge(
        fields, date: ResponseFacts.date(fields, receivedAt: now * 1000), requestedAt: now * 1000 - 5000,
        receivedAt: now * 1000)
      require(age.milliseconds >= 5000 || value.isEmpty || headers.contains("Date"), "time only adds")
      require(age.milliseconds >= 0, "no age is negative")
    }
  }

  private static func validators(_ value: ArraySlice<UInt8>) {
    let headers = fields("ETag", value) + fields("Last-Modified", value)
    checkSendable(Validators.conditions(headers))
  }

  // MARK: Parts

  /// As the parser of heads would have let it in: without line ends, blanks at its ends, NUL.
  private static func fields(_ name: String, _ value: some Collection<UInt8>) -> Headers {
    var fields = Headers()
    let clean = value.filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    fields.append(name: Array(name.utf8), value: FieldNames.trimmed(clean[...]))
    return fields
  }
}

/// What goes out on the wire is no second request.
func checkSendable(_ fields: Headers) {
  do throws(NetworkError) {
    try HeaderRules.check(fields)
  } catch {
    broken("these fields may be sent, but \(error)")
  }
}
