/// An answer of a ``ScriptedOrigin``: a response, its pace and its faults.
///
/// A value: make one, change it, give it to as many routes as you like. `Connection: close` and the framing
/// fields are added when they are not among `headers`; nothing else is, not even `Date`.
/// ```swift
/// origin.on("/slow", .text("hello").throttle(10))
/// origin.enqueue(.pattern(1 << 30).resetAfter(1000))
/// ```
public struct Answer: Sendable {
  /// The status code. Default 200. Any number is sent as it is.
  public var status = 200
  /// The reason phrase; nil is the usual one for the status.
  public var reason: String?
  /// The header fields, sent in this order and case.
  public var headers: [HeaderField] = []
  /// The body. Default none. Not sent to HEAD, nor with 1xx, 204 and 304.
  public var body = AnswerBody.none
  /// The mark of the body's end. Default automatic.
  public var framing = AnswerFraming.automatic
  /// Time between the request's last byte and the answer's first. Default zero.
  public var delay = Duration.zero
  /// The pace at which the answer leaves; nil, the default, is as fast as the client reads.
  public var pace: Pace?
  /// True when `pace` holds for the body only.
  public var pacesBodyOnly = false
  /// The faults, in any order.
  public var faults: [Fault] = []
  /// True when the answer is sent without waiting for the request's body. Default false. Only for fixed
  /// answers, and those of ``ScriptedOrigin/onHead(_:_:)``.
  public var isEarly = false
  /// True when the connection is closed behind the answer. Default false.
  public var closesConnection = false

  /// The `Content-Type` follows from how the answer was made: another one takes its place.
  var impliesType = false
  /// The bytes that are sent instead of all the above.
  var script: [WirePart]?

  /// A response.
  public init(status: Int = 200, headers: KeyValuePairs<String, String> = [:], body: AnswerBody = .none) {
    self.status = status
    self.headers = headers.map { HeaderField($0.key, $0.value) }
    self.body = body
  }

  /// 200 with this text, `text/plain; charset=utf-8`.
  public static func text(_ text: String, status: Int = 200) -> Answer {
    typed("text/plain; charset=utf-8", .text(text), status)
  }

  /// 200 with these bytes.
  public static func bytes(_ bytes: [UInt8], type: String = "application/octet-stream") -> Answer {
    typed(type, .bytes(bytes))
  }

  static func typed(_ type: String, _ body: AnswerBody, _ status: Int = 200) -> Answer {
    var answer = Answer(status: status, headers: ["Content-Type": type], body: body)
    answer.impliesType = true
    return answer
  }

  /// 200 with `count` bytes of ``BodyPattern``, which are never held in memory.
  public static func pattern(_ count: Int) -> Answer {
    typed("application/octet-stream", .pattern(count: count))
  }

  /// 200 in chunks, one for each element.
  public static func chunks(_ chunks: [[UInt8]]) -> Answer { Answer(body: .chunks(chunks)) }

  /// This status without a body.
  public static func status(_ status: Int) -> Answer { Answer(status: status) }

  /// A redirect to this `Location`.
  public static func redirect(to location: String, status: Int = 302) -> Answer {
    Answer(status: status, headers: ["Location": location])
  }

  /// 200 with a body that is gzip already.
  public static func gzip(_ bytes: [UInt8]) -> Answer {
    Answer(headers: ["Content-Encoding": "gzip"], body: .bytes(bytes))
  }

  /// These bytes instead of a response, garbage or not; then the connection is closed.
  public static func raw(_ bytes: [UInt8]) -> Answer { .raw([.bytes(bytes)]).closing() }

  /// This text instead of a response, as it stands; then the connection is closed.
  public static func raw(_ text: String) -> Answer { .raw(Array(text.utf8)) }

  /// These steps instead of a response. The connection stays open behind them, unless they close it or the client
  /// said `Connection: close`.
  public static func raw(_ parts: [WirePart]) -> Answer {
    var answer = Answer()
    answer.script = parts
    return answer
  }

  /// No byte, ever; the connection stays open until ``ScriptedOrigin/releaseAll()`` closes it.
  public static var noAnswer: Answer { .raw([.stall, .close]) }

  /// The connection is closed instead of an answer.
  public static var hangUp: Answer { .raw([.close]) }
}

/// Changed copies, to be chained.
extension Answer {
  /// Adds a header field. The first `Content-Type` takes the place of the one that `text`, `json` and the like have set.
  public func header(_ name: String, _ value: String) -> Answer {
    changed(self) {
      if $0.impliesType, equalsWithoutCase(name.utf8, "Content-Type".utf8) {
        $0.headers.removeAll { equalsWithoutCase($0.name.utf8, name.utf8) }
        $0.impliesType = false
      }
      $0.headers.append(HeaderField(name, value))
    }
  }

  /// Sets the reason phrase.
  public func reason(_ reason: String) -> Answer { changed(self) { $0.reason = reason } }

  /// Sets the framing of the body.
  public func framed(_ framing: AnswerFraming) -> Answer { changed(self) { $0.framing = framing } }

  /// Begun only after this time.
  public func delay(_ time: Duration) -> Answer { changed(self) { $0.delay = time } }

  /// Sent at this many bytes a second.
  public func throttle(_ bytesPerSecond: Int) -> Answer { paced(.bytesPerSecond(bytesPerSecond)) }

  /// Sent in writes of `size` bytes, head included, with this time between them.
  public func slice(_ size: Int, every interval: Duration = .zero) -> Answer {
    paced(.slices(of: size, every: interval))
  }

  /// Sent at this pace, or only its body.
  public func paced(_ pace: Pace, bodyOnly: Bool = false) -> Answer {
    changed(self) {
      $0.pace = pace
      $0.pacesBodyOnly = bodyOnly
    }
  }

  /// Stopped after this many bytes of the body until ``ScriptedOrigin/releaseAll()``.
  public func stallAfter(_ bodyBytes: Int) -> Answer { fault(.stall, at: .body(bodyBytes)) }

  /// Reset after this many bytes of the body.
  public func resetAfter(_ bodyBytes: Int) -> Answer { fault(.reset, at: .body(bodyBytes)) }

  /// Cut off, by an orderly close, after this many bytes of the body.
  public func closeAfter(_ bodyBytes: Int) -> Answer { fault(.close, at: .body(bodyBytes)) }

  /// Adds a fault at this place. Several may be given.
  public func fault(_ action: FaultAction, at point: FaultPoint) -> Answer {
    changed(self) { $0.faults.append(Fault(action, at: point)) }
  }

  /// Sent as soon as the request's head is there, whatever is still to come of its body.
  public func early() -> Answer { changed(self) { $0.isEarly = true } }

  /// Adds `Connection: close`, and closes behind the answer.
  public func closing() -> Answer { changed(self) { $0.closesConnection = true } }
}

/// A copy of a value, changed.
func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var copy = value
  change(&copy)
  return copy
}

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

/// A header field as it was written: name with its case, value without the space around it.
public struct HeaderField: Sendable, Hashable, CustomStringConvertible {
  /// The name, in the case that was used.
  public var name: String
  /// The value.
  public var value: String

  /// A field of this name and value. Nothing is checked: an answer may be wrong on purpose.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// The field as a header line without its end.
  public var description: String { "\(name): \(value)" }
}

extension Sequence where Element == HeaderField {
  /// The first value of this name, compared without case.
  public func first(_ name: String) -> String? { first { equalsWithoutCase($0.name.utf8, name.utf8) }?.value }

  /// Every value of this name, in order.
  public func all(_ name: String) -> [String] {
    filter { equalsWithoutCase($0.name.utf8, name.utf8) }.map(\.value)
  }
}

/// ASCII comparison as RFC 9110 section 5.1 wants it for field names.
func equalsWithoutCase(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
  first.count == second.count && zip(first, second).allSatisfy { lowercased($0) == lowercased($1) }
}

@inline(__always)
func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

/// The reason phrases of RFC 9110 section 15 that a test meets; every other status has an empty one.
func reasonPhrase(_ status: Int) -> String { phrases[status] ?? "" }

private let phrases: [Int: String] = [
  100: "Continue", 101: "Switching Protocols", 103: "Early Hints",
  200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
  301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
  307: "Temporary Redirect", 308: "Permanent Redirect",
  400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
  407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
  412: "Precondition Failed", 413: "Content Too Large", 416: "Range Not Satisfiable",
  417: "Expectation Failed", 422: "Unprocessable Content", 423: "Locked", 429: "Too Many Requests",
  431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
  502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 507: "Insufficient Storage",
]
