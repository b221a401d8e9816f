/// What a 304 means for the stored answer that the request was made conditional with (RFC 9111 sections
/// 4.3.3 and 4.3.4), and the answer to a HEAD for the stored answer to GET (section 4.3.5).
enum NotModified: Sendable, Equatable {
  /// Serve this and store it in the old one's place; the body is the same.
  case updated(StoredResponse)
  /// Serve what is stored and leave it as it is: the 304 has no validator that would tell what it is about
  /// (section 4.3.4), but it answered our condition. The answer to a HEAD says nothing of it.
  case kept
  /// Serve what is stored and remove it: after the 304 it may not be stored, or not found by what it was
  /// stored under. By a HEAD the resource has changed, or is gone.
  case dropped
  /// Not about what is stored: ask again without conditions.
  case mismatched
}

extension StoredResponse {
  /// Takes a 304 in. `requestedAt`, `receivedAt`: of the conditional exchange, milliseconds since 1970.
  func notModified(
    _ head: ResponseHead, requestedAt: Int64, receivedAt: Int64, rules: CacheRules
  ) -> NotModified {
    switch matches(head.headers) {
    case false: return .mismatched
    case nil where facts.flags.contains(.hasValidator): return .kept
    default: break
    }
    return renewed(by: head.headers, requestedAt: requestedAt, receivedAt: receivedAt, rules: rules)
  }

  /// True if the validators of a newer head are those of the stored answer; nil if it has none (RFC 9111
  /// section 4.3.4).
  ///
  /// An ETag decides alone. It is compared weakly, as the origin compares If-None-Match (RFC 9110 section
  /// 13.1.2): a server that weakens its tags while compressing sends the strong one in a 304, which has
  /// nothing to compress.
  func matches(_ new: Headers) -> Bool? {
    if let tag = Validators.entityTag(new) {
      let held = Validators.entityTag(allHeaders)
      if held == nil, Validators.isWeak(tag) { return matchesDate(new) }
      return held.map(Validators.opaqueTag) == Validators.opaqueTag(tag)
    }
    return matchesDate(new)
  }

  /// True if a part of a newer body says that this one is no more: by its validators or, without, its length.
  func isOutdated(byPart new: Headers) -> Bool {
    if let matches = matches(new) { return !matches }
    guard parts == nil, !facts.flags.contains(.isDecoded) else { return false }
    let total = new.firstBytes("content-range").flatMap { ContentRange.parse($0) }?.total
    return total.map { $0 != bodyBytes } ?? false
  }

  private func matchesDate(_ new: Headers) -> Bool? {
    guard let modified = Validators.lastModified(new) else { return nil }
    return modified == Validators.lastModified(allHeaders)
  }

  /// Fields, age and lifetime renewed from a newer head (RFC 9111 sections 3.2 and 4.2.3). Dropped if the renewed
  /// fields forbid storing, or Vary no longer names what `variant` was made of.
  private func renewed(
    by new: Headers, requestedAt: Int64, receivedAt: Int64, rules: CacheRules
  ) -> NotModified {
    let new = AnswerFields(new)
    let isDated = ResponseFacts.saidDate(new, receivedAt: receivedAt) != nil
    let kept = StoredFields.make(
      new, ResponseDirectives(new), isDated: isDated, receivedAt: receivedAt, rules: rules)
    var result = self
    result.headers = StoredFields.updated(allHeaders, with: kept)
    // Each may bring new names; more than any head may have is none.
    guard result.headers.block.count <= Self.fieldBytesMax, result.headers.count <= Self.fieldsMax else {
      return .dropped
    }
    var withAge = result.headers
    // It is not stored, but counts once.
    if let age = new[.age] { withAge.append(name: "Age".utf8, value: age) }
    let fields = AnswerFields(withAge)
    let directives = ResponseDirectives(fields)
    guard Self.mayStay(directives, rules), hasSameVary(fields) else { return .dropped }
    result.hidden = StoredFields.hide(directives, from: &result.headers)
    result.requestedAt = requestedAt
    result.receivedAt = receivedAt
    result.facts = ResponseFacts(
      status: status, fields: fields, directives: directives,
      date: ResponseFacts.date(fields, receivedAt: receivedAt), requestedAt: requestedAt,
      receivedAt: receivedAt, rules: rules)
    result.facts.flags.formUnion(facts.flags.intersection(.isDecoded))
    return .updated(result)
  }

  /// As much as comes with one answer.
  private static let fieldBytesMax = 128 << 10
  private static let fieldsMax = 256

  private static func mayStay(_ directives: ResponseDirectives, _ rules: CacheRules) -> Bool {
    let flags = directives.flags
    if flags.contains(.noStore), !flags.contains(.mustUnderstand) { return false }
    return !(rules.isShared && flags.contains(.isPrivate))
  }

  private func hasSameVary(_ new: AnswerFields) -> Bool {
    if !facts.flags.contains(.varies), !new.contains(.vary) { return true }
    return VaryFields(new).map { $0 == VaryFields(headers) } ?? false
  }
}

extension StoredResponse {
  /// Takes the head of an answer to HEAD in.
  ///
  /// The update counts if every validator and the Content-Length it brings are those of the stored answer.
  func updated(
    byHead head: ResponseHead, requestedAt: Int64, receivedAt: Int64, rules: CacheRules
  ) -> NotModified {
    if head.status == 404 || head.status == 410, status != head.status { return .dropped }
    guard head.status == 200, status == 200 else { return .kept }
    let new = head.headers
    guard agrees(new, "etag"), agrees(new, "last-modified"), agreesInLength(new) else { return .dropped }
    return renewed(by: new, requestedAt: requestedAt, receivedAt: receivedAt, rules: rules)
  }

  private func agrees(_ new: Headers, _ name: String) -> Bool {
    guard let value = new.firstBytes(name) else { return true }
    return headers.firstBytes(name) == value
  }

  /// An answer that was stored without Content-Length came in chunks; then the validators alone count.
  private func agreesInLength(_ new: Headers) -> Bool {
    guard let length = new.firstBytes("content-length") else { return true }
    return headers.firstBytes("content-length").map { $0 == length } ?? (matches(new) == true)
  }
}

extension StoredFields {
  /// The stored fields with those of a newer head put in their place (RFC 9111 section 3.2).
  ///
  /// Every name that `new` has replaces all stored lines of that name, except what describes the stored
  /// bytes as they lie there: Content-Length, Content-Encoding, Content-Range. A weak ETag is not made
  /// strong: the bytes were not compared. `new` has been through `make`.
  static func updated(_ stored: Headers, with new: Headers) -> Headers {
    let newNames = new.nameRanges
    let keepsTag = keepsTag(stored, new)
    let newBytes = new.block.span
    let kept = stored.dropping { bytes, name in
      if isOfTheBytes(bytes, name) || keepsTag && bytes.equals("etag", in: name) { return false }
      for other in newNames where other.count == name.count {
        if newBytes.equals(bytes.extracting(name), at: other.lowerBound) { return true }
      }
      return false
    }
    return kept + new.dropping { isOfTheBytes($0, $1) || keepsTag && $0.equals("etag", in: $1) }
  }

  /// The stored tag is weak and the new one no other.
  private static func keepsTag(_ stored: Headers, _ new: Headers) -> Bool {
    guard let held = Validators.entityTag(stored), Validators.isWeak(held) else { return false }
    return Validators.entityTag(new).map { Validators.opaqueTag($0) == Validators.opaqueTag(held) } ?? true
  }

  /// Content-Length, Content-Encoding, Content-Range.
  private static func isOfTheBytes(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
    guard name.count >= 13, bytes[name.lowerBound] | 0x20 == UInt8(ascii: "c") else { return false }
    return bytes.equals("content-length", in: name) || bytes.equals("content-encoding", in: name)
      || bytes.equals("content-range", in: name)
  }
}

/// ETag and Last-Modified: what a stored answer can be asked for again with, and recognised by (RFC 9110
/// section 8.8).
enum Validators {
  /// The ETag as it must be sent back, quotes and `W/` and all; nil if it is missing or would not survive
  /// in a list of tags.
  ///
  /// Tags without quotes are sent by many origins and are understood by them; they are kept as they are.
  static func entityTag(_ headers: Headers) -> ArraySlice<UInt8>? { usable(headers.firstBytes("etag")) }

  static func entityTag(_ fields: AnswerFields) -> ArraySlice<UInt8>? { usable(fields[.etag]) }

  private static func usable(_ tag: ArraySlice<UInt8>?) -> ArraySlice<UInt8>? {
    guard let value = tag, !value.isEmpty else { return nil }
    let opaque = opaqueTag(value)
    let isList = opaque.first != UInt8(ascii: "\"") && opaque.contains(UInt8(ascii: ","))
    return value.count == 1 && value.first == UInt8(ascii: "*") || isList ? nil : value
  }

  /// Seconds since 1970; nil if it is missing or no date.
  static func lastModified(_ headers: Headers) -> Int64? {
    headers.firstBytes("last-modified").flatMap { HTTPDate.parse($0) }
  }

  static func lastModified(_ fields: AnswerFields) -> Int64? {
    fields[.lastModified].flatMap { HTTPDate.parse($0) }
  }

  /// The fields that make a GET conditional on the stored answer being outdated (RFC 9111 section 4.3.1):
  /// If-None-Match and If-Modified-Since, each if it can. The date is sent back to the letter.
  static func conditions(_ headers: Headers) -> Headers {
    let fields = AnswerFields(headers)
    var conditions = Headers()
    if let tag = entityTag(fields) { conditions.append(name: "If-None-Match".utf8, value: tag) }
    if lastModified(fields) != nil, let date = fields[.lastModified] {
      conditions.append(name: "If-Modified-Since".utf8, value: date)
    }
    return conditions
  }

  static func isWeak(_ tag: ArraySlice<UInt8>) -> Bool { tag.starts(with: "W/".utf8) }

  static func opaqueTag(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    isWeak(tag) ? tag.dropFirst(2) : tag
  }
}
