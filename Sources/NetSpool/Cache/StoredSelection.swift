/// What of a stored answer is the answer to a request that brings conditions of its own or asks for parts: pure, for a
/// stored answer that may be used (RFC 9111 section 4.3.2, RFC 9110 sections 13.2.2 and 14.2).
///
/// `If-Match` and `If-Unmodified-Since` are for origins alone; a request with one of them never comes here.
enum StoredSelection: Sendable, Equatable {
  /// All of it, as if nothing had been said.
  case whole
  /// 304.
  case notModified
  /// 206, with these positions of the body, in the order in which they were asked for.
  case parts([Range<Int64>])
  /// 416.
  case unsatisfiable
  /// Only the origin can tell.
  case origin

  /// `fields`: of the request.
  init(_ request: CacheRequest, _ fields: Headers, stored: StoredResponse) {
    guard stored.status == 200 || stored.parts != nil else {
      self = .whole
      return
    }
    if Self.isUnchanged(fields, stored) {
      self = .notModified
    } else {
      let selected = Self.selected(request, fields, stored)
      // Where only parts are stored, nothing else can be served.
      self = stored.parts == nil || selected.isServed(from: stored) ? selected : .origin
    }
  }

  private func isServed(from stored: StoredResponse) -> Bool {
    switch self {
    case .whole, .origin: false
    case .notModified, .unsatisfiable: true
    case .parts(let ranges): ranges.allSatisfy { stored.parts?.covers($0) == true }
    }
  }

  // MARK: Conditions

  private static func isUnchanged(_ fields: Headers, _ stored: StoredResponse) -> Bool {
    let tags = fields.allBytes("if-none-match")
    if !tags.isEmpty { return tags.contains { holds($0, Validators.entityTag(stored.allHeaders)) } }
    guard let since = fields.firstBytes("if-modified-since").flatMap({ HTTPDate.parse($0) }) else {
      return false
    }
    return modified(stored) <= since
  }

  /// When it was changed last, as far as that is known.
  private static func modified(_ stored: StoredResponse) -> Int64 {
    let fields = stored.allHeaders
    return Validators.lastModified(fields) ?? fields.firstBytes("date").flatMap { HTTPDate.parse($0) }
      ?? InitialAge.seconds(stored.receivedAt)
  }

  /// True if a list of tags names one, compared weakly; `*` names any.
  private static func holds(_ list: ArraySlice<UInt8>, _ tag: ArraySlice<UInt8>?) -> Bool {
    if FieldNames.trimmed(list).elementsEqual("*".utf8) { return true }
    guard let opaque = tag.map(Validators.opaqueTag) else { return false }
    return Validators.tags(in: list).contains { Validators.opaqueTag($0) == opaque }
  }

  // MARK: Parts

  private static func selected(
    _ request: CacheRequest, _ fields: Headers, _ stored: StoredResponse
  ) -> StoredSelection {
    guard request.method == .get, let value = fields.firstBytes("range") else { return .whole }
    guard mayUseRange(fields, stored), let specs = RangeSpecs(value) else { return .whole }
    // Positions in what was sent are not those in what it was decoded to.
    if stored.facts.flags.contains(.isDecoded) { return .origin }
    let total = stored.parts?.total ?? stored.bodyBytes
    let ranges = specs.ranges(in: total)
    if ranges.isEmpty { return .unsatisfiable }
    return ranges.reduce(0, { $0.addingSaturated(Int64($1.count)) }) > total ? .whole : .parts(ranges)
  }

  /// `If-Range`: the parts are wanted of this very answer, and of another all of it (RFC 9110 section 13.1.5).
  private static func mayUseRange(_ fields: Headers, _ stored: StoredResponse) -> Bool {
    guard let value = fields.firstBytes("if-range") else { return true }
    let held = stored.allHeaders
    if let date = HTTPDate.parse(value) {
      return date == Validators.lastModified(held) && Validators.isDateStrong(held)
    }
    return Validators.strongTag(held) == value
  }
}

extension Validators {
  /// The entity tags of a list (RFC 9110 section 8.8.3), whose texts may hold commas.
  static func tags(in list: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var tags: [ArraySlice<UInt8>] = []
    var start = list.startIndex
    var isQuoted = false
    for index in list.indices {
      if list[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
      guard list[index] == UInt8(ascii: ","), !isQuoted else { continue }
      tags.append(FieldNames.trimmed(list[start..<index]))
      start = index + 1
    }
    tags.append(FieldNames.trimmed(list[start...]))
    return tags.filter { !$0.isEmpty }
  }

  /// The ETag if it is a strong one (RFC 9110 section 8.8.1).
  static func strongTag(_ headers: Headers) -> ArraySlice<UInt8>? {
    entityTag(headers).flatMap { isWeak($0) || $0.first != UInt8(ascii: "\"") ? nil : $0 }
  }

  /// A date is as good as a strong tag when the answer was made a second later or more (RFC 9110 section 8.8.2.2).
  static func isDateStrong(_ headers: Headers) -> Bool {
    guard let modified = lastModified(headers),
      let date = headers.firstBytes("date").flatMap({ HTTPDate.parse($0) })
    else { return false }
    return date > modified
  }

  /// Parts that came with these fields are of one body: the strong tag says so, or where none is named the strong date.
  static func areOfOneBody(_ some: Headers, _ others: Headers) -> Bool {
    if let tag = strongTag(some) { return strongTag(others) == tag }
    guard entityTag(some) == nil, entityTag(others) == nil, isDateStrong(some), isDateStrong(others) else {
      return false
    }
    return lastModified(some) == lastModified(others)
  }
}

/// The Range field of a request, in bytes (RFC 9110 section 14.1.2). Nil for what is to be ignored: another unit, what is
/// not well formed, and more ranges than anybody means.
struct RangeSpecs: Sendable, Equatable {
  enum Spec: Sendable, Equatable {
    /// From a first to a last position, both included; nil: to the end.
    case from(Int64, to: Int64?)
    /// So many bytes at the end.
    case last(Int64)
  }

  let specs: [Spec]

  static let specsMax = 32

  init?(_ value: ArraySlice<UInt8>) {
    guard value.count > 6, value.prefix(6).map(\.asciiLowercased).elementsEqual("bytes=".utf8) else {
      return nil
    }
    var specs: [Spec] = []
    for element in value.dropFirst(6).split(separator: UInt8(ascii: ",")) {
      let text = FieldNames.trimmed(element)
      if text.isEmpty { continue }
      guard let spec = Self.spec(text) else { return nil }
      specs.append(spec)
    }
    guard (1...Self.specsMax).contains(specs.count) else { return nil }
    self.specs = specs
  }

  private static func spec(_ text: ArraySlice<UInt8>) -> Spec? {
    guard let dash = text.firstIndex(of: UInt8(ascii: "-")) else { return nil }
    let (first, last) = (text[..<dash], text[(dash + 1)...])
    if first.isEmpty { return number(last).map { .last($0) } }
    guard let start = number(first) else { return nil }
    if last.isEmpty { return .from(start, to: nil) }
    guard let end = number(last), start <= end else { return nil }
    return .from(start, to: end)
  }

  /// No body is as long as what has 19 digits.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    let digits = digits.drop { $0 == UInt8(ascii: "0") }
    return digits.count > 18 ? longest : digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  private static let longest: Int64 = 1_000_000_000_000_000_000

  /// What there is of them in a body of this length.
  func ranges(in total: Int64) -> [Range<Int64>] {
    specs.compactMap { spec in
      switch spec {
      case .from(let first, let last):
        first < total ? first..<min(last.map { $0 + 1 } ?? total, total) : nil
      case .last(let count):
        count > 0 && total > 0 ? max(0, total - count)..<total : nil
      }
    }
  }
}

/// A body of several parts (RFC 9110 section 14.6).
enum ByteRanges {
  /// `parts`: the bytes of each.
  static func make(
    _ ranges: [Range<Int64>], total: Int64, type: String?, boundary: String,
    _ parts: some Sequence<some Sequence<UInt8>>
  ) -> [UInt8] {
    var body: [UInt8] = []
    for (range, part) in zip(ranges, parts) {
      body += "\r\n--\(boundary)\r\n".utf8
      if let type { body += "Content-Type: \(type)\r\n".utf8 }
      body += "Content-Range: \(ContentRange.text(range, total: total))\r\n\r\n".utf8
      body += part
    }
    body += "\r\n--\(boundary)--\r\n".utf8
    return body
  }
}
