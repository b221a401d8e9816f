/// A whole answer.
///
/// A value of one word: copies share the head, the body and everything else.
public struct NetworkResponse: Sendable {
  private struct Parts: Sendable {
    var head: ResponseHead
    var body: ResponseBytes
    var source: Source
    var finalURL: String
    var metrics: Metrics
    var streams: [StreamReport]
    var isFinal = true
    var completeness = Completeness.whole
    var age: Duration?
    /// Of one from the cache: when it came or was confirmed, in milliseconds since 1970.
    var cachedAt: Int64 = 0
    var isStale = false
  }

  /// An array of one is the standard library's own copy-on-write box.
  private var parts: [Parts]

  init(
    head: ResponseHead, body: ResponseBytes, source: Source, finalURL: String, metrics: Metrics = Metrics(),
    streams: [StreamReport] = [], age: Duration? = nil
  ) {
    var metrics = metrics
    metrics.version = head.version
    parts = [
      Parts(
        head: head, body: body, source: source, finalURL: finalURL, metrics: metrics, streams: streams,
        age: age)
    ]
  }

  var head: ResponseHead {
    _read { yield parts[0].head }
    _modify { yield &parts[0].head }
  }

  /// The status code: 100 to 999. One beyond 599 counts as one of 5xx (RFC 9110 section 15).
  public var status: Int { parts[0].head.status }
  /// True for 200 to 299. What ends with a completion may be 304 or a redirect that was not followed as well.
  public var isSuccess: Bool { (200...299).contains(status) }
  /// The header fields as received, at most 128 KiB in 256 lines.
  public var headers: NetworkRequest.Headers { parts[0].head.headers }
  /// Fields that came after the body.
  public var trailers: NetworkRequest.Headers { parts[0].head.trailers }
  /// The HTTP version of the answer: `HTTP/1.1`, `HTTP/2`.
  public var httpVersion: String { parts[0].head.httpVersion }

  /// The target of a redirect that was not followed; nil without a `Location` that is a URL.
  package var redirectURL: String? {
    guard let location = headers.first("Location") else { return nil }
    return try? URLParser.parse(location, relativeTo: finalURL).pieces.text
  }

  /// The body, decoded; empty when it went to streams.
  public internal(set) var body: ResponseBytes {
    get { parts[0].body }
    set { parts[0].body = newValue }
  }

  // Asked of each answer: a copy of its body or head would cost a hit more than the question.
  var bodyCount: Int { parts[0].body.count }
  var bodyBytesInMemory: Int { parts[0].body.isInMemory ? bodyCount : 0 }
  var isOfError: Bool { parts[0].head.status >= 400 }

  /// Its source.
  public internal(set) var source: Source {
    get { parts[0].source }
    set { parts[0].source = newValue }
  }

  /// True when it was served from the cache, confirmed or not.
  public var isFromCache: Bool { source != .network }

  /// No other completion follows; false only for the first of `.cachedThenFresh`.
  public internal(set) var isFinal: Bool {
    get { parts[0].isFinal }
    set { parts[0].isFinal = newValue }
  }

  /// The proof that the body is all of it. `.whole` for an answer from the cache: no other is kept there.
  public internal(set) var completeness: Completeness {
    get { parts[0].completeness }
    set { parts[0].completeness = newValue }
  }

  /// Since when the origin made or confirmed the answer, for one that comes from the cache (RFC 9111
  /// section 4.2.3); nil for one from the network.
  public internal(set) var age: Duration? {
    get { parts[0].age }
    set { parts[0].age = newValue }
  }

  /// True when it comes from the cache, is past its lifetime, and the origin has not confirmed it: because
  /// the policy or the request allows it, because it is being renewed behind, or because the origin could not
  /// be reached.
  public internal(set) var isStale: Bool {
    get { parts[0].isStale }
    set { parts[0].isStale = newValue }
  }

  /// When the answer that comes from the cache came from the origin, or was confirmed last: the time since 1970; nil for
  /// one from the network.
  public var cachedAt: Duration? { parts[0].cachedAt == 0 ? nil : .milliseconds(parts[0].cachedAt) }

  mutating func noteCache(cachedAt: Int64, isStale: Bool) {
    parts[0].cachedAt = cachedAt
    parts[0].isStale = isStale
  }

  /// The URL that answered, after redirects.
  public internal(set) var finalURL: String {
    get { parts[0].finalURL }
    set { parts[0].finalURL = newValue }
  }

  /// The time that each phase took: for a confirmed answer from the cache that of the question, for any other
  /// from there zero.
  public internal(set) var metrics: Metrics {
    get { parts[0].metrics }
    _modify { yield &parts[0].metrics }
  }

  /// The report of each stream, in the order they were added.
  public internal(set) var streams: [StreamReport] {
    get { parts[0].streams }
    set { parts[0].streams = newValue }
  }

  /// The body as text: by its byte order mark, else by the `charset` of its `Content-Type`, else as UTF-8
  /// (also Latin-1 and UTF-16). Never fails: what cannot be read becomes U+FFFD. Nil without a body.
  public var text: String? {
    guard body.count > 0 else { return nil }
    let charset = headers.first("Content-Type").flatMap { MediaType($0)?.charset }
    return TextDecoding.decode(body.array[...], label: charset)
  }

  /// The same as `text`, by the name it has elsewhere.
  public var string: String? { text }

  /// The body as a picture, whatever `Content-Type` says; nil when it is none, or so cut off that its size cannot
  /// be read. Look at `isComplete`.
  public var image: NetworkImage? {
    var image = NetworkImage(body)
    image?.finalURL = finalURL
    return image
  }

  /// The source of an answer.
  public enum Source: String, Sendable, Hashable {
    /// The origin.
    case network
    /// The cache, without asking.
    case cache
    /// The cache, after the origin said that it still holds (304).
    case revalidated
  }

  /// The sign by which the end of a body was known (RFC 9112 section 6.3, RFC 9113 section 8.1). One that is
  /// known to be cut off is an error, `.bodyTruncated` as a rule.
  public enum Completeness: String, Sendable, Hashable {
    /// Its length, its last chunk or the end of its compression was there, or it has no body.
    case whole
    /// The connection ended, or the stream of HTTP/2, and nothing says how long the body should have been. It may have been
    /// cut off: libcurl does not tell the end of a stream from a reset without an error. Never kept in the cache.
    case closeDelimited
  }

  /// The end of a stream.
  public struct StreamReport: Sendable {
    /// The target of a file stream.
    public internal(set) var path: String?
    /// Bytes it took.
    public internal(set) var bytes: Int64 = 0
    /// Why it was dropped (`onFailure: .dropStream`); nil when it got the whole body.
    public internal(set) var failure: NetworkError?
    /// The SHA-256 of them, 64 hexadecimal digits; nil unless it was asked for.
    public var sha256: String? { digest.map(Hexadecimal.text) }
    /// The same as 32 bytes.
    var digest: [UInt8]?
  }

  /// The times of an operation, and the bytes that it moved. Times are those of the last exchange
  /// (curl_easy_getinfo(3)); phases that did not happen are zero.
  public struct Metrics: Sendable {
    var version = ResponseHead.Version.http11
    /// From `enqueue` to the slot, in microseconds, as all that follow.
    var queueWaitTime: Microseconds = 0
    var nameLookupTime: Microseconds = 0
    var connectTime: Microseconds = 0
    var tlsHandshakeTime: Microseconds = 0
    var firstByteTime: Microseconds = 0
    var totalTime: Microseconds = 0
    var endToEndTime: Microseconds = 0
    /// Body bytes off the wire, before decoding.
    public internal(set) var bytesReceived: Int64 = 0
    /// Body bytes sent.
    public internal(set) var bytesSent: Int64 = 0
    /// The connection had served another request before.
    public internal(set) var connectionReused = false
    /// Attempts made, the last included.
    public internal(set) var attempts = 1
    /// Redirects followed.
    public internal(set) var redirects = 0

    /// The protocol: `HTTP/1.1`, `HTTP/2`.
    public var httpVersion: String { version.name }
    /// From `enqueue` to the slot.
    public var queueWait: Duration { .microseconds(queueWaitTime) }
    /// Looking the name up.
    public var nameLookup: Duration { .microseconds(nameLookupTime) }
    /// Connecting.
    public var connect: Duration { .microseconds(connectTime) }
    /// The TLS handshake.
    public var tlsHandshake: Duration { .microseconds(tlsHandshakeTime) }
    /// From the start to the first byte of the answer.
    public var firstByte: Duration { .microseconds(firstByteTime) }
    /// From the start to the last byte.
    public var total: Duration { .microseconds(totalTime) }
    /// From `enqueue` to the end, with all that came between: waiting, redirects, repetitions. Zero for an answer from the
    /// cache that `enqueue` itself found.
    public var endToEnd: Duration { .microseconds(endToEndTime) }
  }
}

/// An answer before its body.
public struct ResponseHead: Sendable {
  enum Version: UInt8, Sendable {
    case http10, http11, http2, http3

    var name: String {
      switch self {
      case .http10: "HTTP/1.0"
      case .http11: "HTTP/1.1"
      case .http2: "HTTP/2"
      case .http3: "HTTP/3"
      }
    }
  }

  var version: Version
  /// The status code.
  public internal(set) var status: Int
  /// The header fields as received.
  public internal(set) var headers: NetworkRequest.Headers
  /// Fields that came after the body.
  var trailers = Headers()

  /// The HTTP version of the answer: `HTTP/1.1`, `HTTP/2`.
  public var httpVersion: String { version.name }
}
