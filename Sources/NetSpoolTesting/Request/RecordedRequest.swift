/// A request as it came in.
public struct RecordedRequest: Sendable {
  /// The version of HTTP in which a request was sent.
  public enum Version: String, Sendable {
    /// RFC 1945; from old clients and proxies.
    case http10 = "HTTP/1.0"
    /// RFC 9112.
    case http11 = "HTTP/1.1"
    /// RFC 9113. Its `:authority` stands among the headers as `host`.
    case http2 = "HTTP/2"
  }

  let head: RequestHead

  /// The request's place among all that this origin received, from 0; 0 in ``ScriptedOrigin/onHead(_:_:)``, as it is not
  /// recorded yet.
  public internal(set) var number = 0
  /// The connection it came on, from 0 in the order they were accepted.
  public let connection: Int
  /// Its place on that connection, from 0: above 0, the connection was used again.
  public let indexOnConnection: Int
  /// The body without transfer coding; of one over ``OriginLimits/keptBodyBytesMax`` the beginning (see ``bodyCount``).
  public let body: [UInt8]
  /// The number of bytes that the body had.
  public let bodyCount: Int
  /// ``FNV1a`` of the whole body, kept or not.
  public let bodyHash: UInt64
  /// Trailer fields, behind a chunked body or one of HTTP/2.
  public let trailers: [HeaderField]
  /// True when the body had come in whole when this was recorded: false for an answer given early and for a
  /// fault that strikes inside the body.
  public let isComplete: Bool

  /// The method, case and all.
  public var method: String { head.method }
  /// The request target as it was sent.
  public var target: String { head.target }
  /// The target without its query.
  public let path: String
  /// The query without its question mark; nil when there is none.
  public var query: String? { target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } }
  /// The values of the query, decoded, by their names; of several with one name the first.
  public var parameters: [String: String] {
    let pairs = (query ?? "").split(separator: "&").map { pair in
      pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.decoded)
    }
    return Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { first, _ in first }
  }
  /// The header fields in the order and case in which they came.
  public var headers: [HeaderField] { head.headers }
  /// The version of HTTP.
  public var version: Version { head.version }
  /// The head's bytes, from the method to the blank line; of an HTTP/2 request, as HTTP/1.1 would have written it.
  public var headBytes: [UInt8] { head.bytes }
  /// The body as JSON; nil when it is none.
  public var json: AnswerJSON? { AnswerJSON(reading: text) }
  /// The body as text.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// The first value of this header field, its name compared without case.
  public func header(_ name: String) -> String? { headers.first(name) }

  /// As HTML forms are read: `+` is a blank.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      let digits = byte == UInt8(ascii: "%") ? UInt8(String(Substring(rest.prefix(2))), radix: 16) : nil
      if digits != nil { rest = rest.dropFirst(2) }
      bytes.append(digits ?? (byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  init(_ exchange: Exchange, connection: Int) {
    head = exchange.head
    path = exchange.path
    number = exchange.number
    self.connection = connection
    indexOnConnection = exchange.index
    body = exchange.reader.kept
    bodyCount = exchange.reader.count
    bodyHash = exchange.reader.hash.value
    trailers = exchange.reader.trailers
    isComplete = exchange.reader.isDone
  }
}

/// Why a request is not HTTP/1.1, and the status it is answered with.
struct RequestFault: Error, Equatable {
  let reason: String
  var status = 400

  init(_ reason: String, status: Int = 400) {
    self.reason = reason
    self.status = status
  }
}
