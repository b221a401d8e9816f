/// Where a download that broke off goes on: what is asked for, and whether the answer fits (RFC 9110 sections 13.1.5,
/// 14.4 and 15.3.7). Values in, a decision out.
struct PartPlan: Equatable, Sendable {
  /// Bytes that are there.
  let bytes: Int64
  /// A strong one: an entity tag with its quotes, or a date.
  let validator: String
  /// The length of the whole where it was told.
  let total: Int64?

  /// The end of what is there is asked for again and compared: bytes that do not belong there would lie at the end, and a
  /// part that is whole already asks for something, too.
  var offset: Int64 { max(0, bytes - Self.comparedBytes) }

  static let comparedBytes: Int64 = 64 << 10

  /// What becomes of a part at the head of an answer.
  enum Verdict: Equatable, Sendable {
    /// The body goes behind the bytes before `offset`.
    case goesOn(PartPlan, total: Int64?)
    /// The body is whole: what was there is worth nothing.
    case begins(validator: String?, total: Int64?)
    /// The body does not belong to the part; the reason.
    case mismatch(String)
  }

  /// - Parameter plan: nil without a part.
  static func judge(_ head: ResponseHead, bytesExpected: Int64?, _ plan: PartPlan?) -> Verdict {
    let coding = head.headers.firstBytes("Content-Encoding")?.map(\.asciiLowercased)
    let isPlain = coding?.elementsEqual("identity".utf8) ?? true
    guard head.status == 206 else {
      // Decoded bytes have other places than those that a range counts.
      return .begins(
        validator: isPlain ? validator(of: head.headers) : nil, total: isPlain ? bytesExpected : nil)
    }
    guard let plan else { return .mismatch("a part that nobody asked for") }
    guard isPlain else { return .mismatch("the rest is compressed") }
    let content = head.headers.contentRange
    guard let content, let range = content.range else {
      return .mismatch("Content-Range is missing or unusable")
    }
    guard range.lowerBound == plan.offset else { return .mismatch("it begins at byte \(range.lowerBound)") }
    if let total = content.total {
      if let known = plan.total, known != total { return .mismatch("the whole has \(total) bytes now") }
      guard range.upperBound == total - 1 else { return .mismatch("it ends at byte \(range.upperBound)") }
    }
    if let bytesExpected, bytesExpected != range.upperBound - range.lowerBound + 1 {
      return .mismatch("its length is not that of its Content-Range")
    }
    guard fits(plan.validator, head.headers) else { return .mismatch("the validator is another") }
    return .goesOn(plan, total: content.total ?? plan.total)
  }

  /// A 206 to If-Range has the validator of the whole; one without any is believed.
  private static func fits(_ validator: String, _ headers: Headers) -> Bool {
    let name = validator.utf8.first == UInt8(ascii: "\"") ? "ETag" : "Last-Modified"
    return headers.firstBytes(name)?.elementsEqual(validator.utf8) ?? true
  }

  /// The strong validator of an answer; nil when it has none. A date is strong when the answer was made a minute later at
  /// least (RFC 9110 section 8.8.2.2).
  static func validator(of headers: Headers) -> String? {
    if let tag = headers.firstBytes("ETag") {
      let isStrong = tag.first == UInt8(ascii: "\"") && tag.last == UInt8(ascii: "\"") && tag.count > 1
      return isStrong ? String(decoding: tag, as: UTF8.self) : nil
    }
    guard let text = headers.first("Last-Modified"), let modified = HTTPDate.parse(text),
      let date = headers.first("Date").flatMap({ HTTPDate.parse($0) }), date >= modified + 60
    else { return nil }
    return text
  }
}
