extension Answer {
  /// The generated body of `count` bytes for a client that resumes (RFC 9110 section 14): 206 with the part that the
  /// request's `Range` asks for, 416 when that lies behind the end, and 200 with everything when there is no range
  /// of the form `bytes=first-` or `bytes=first-last`, or when `If-Range` names another `etag`.
  ///
  /// `etag` with its quotes.
  public static func resumable(_ count: Int, etag: String, for request: RecordedRequest) -> Answer {
    let whole = Answer.pattern(count).header("Accept-Ranges", "bytes").header("ETag", etag)
    guard request.header("If-Range") ?? etag == etag,
      let range = request.header("Range").flatMap({ byteRange($0, count: count) })
    else { return whole }
    guard range.lowerBound < count else {
      return Answer(status: 416, headers: ["Content-Range": "bytes */\(count)"])
    }
    var part = whole.header("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound)/\(count)")
    part.status = 206
    part.body = .pattern(count: range.count, from: range.lowerBound)
    return part
  }

  private static func byteRange(_ field: String, count: Int) -> ClosedRange<Int>? {
    guard field.hasPrefix("bytes="), let dash = field.firstIndex(of: "-"),
      let first = Int(field[..<dash].dropFirst(6)), first >= 0
    else { return nil }
    let end = field[field.index(after: dash)...]
    guard let last = end.isEmpty ? count - 1 : Int(end) else { return nil }
    // Behind the end of the body: a range all the same, which the caller refuses.
    if first >= count { return first...first }
    return last < first ? nil : first...min(last, count - 1)
  }
}
