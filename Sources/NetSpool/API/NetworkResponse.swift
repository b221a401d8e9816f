/// A whole answer.
///
/// A value of one word: copies share the head, the body and everything else.
public struct NetworkResponse: Sendable {
  private struct Parts: Sendable {
    var head: ResponseHead
    var body: ResponseBody
    var source: Source
    var finalURL: String
    var metrics: Metrics
    var streams: [StreamReport]
    var isFinal = true
    var age: Duration?
  }

  /// An array of one is the standard library's own copy-on-write box.
  private var parts: [Parts]

  init(
    head: ResponseHead, body: ResponseBody, source: Source, finalURL: String, metrics: Metrics = Metrics(),
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

  /// The status code: 100 to 599.
  public var status: Int { parts[0].head.status }
  /// The header fields as received, at most 128 KiB in 256 lines.
  public var headers: NetworkRequest.Headers { parts[0].head.headers }
  /// Fields that came after the body.
  public var trailers: NetworkRequest.Headers { parts[0].head.trailers }
  /// The HTTP version of the answer: `HTTP/1.1`, `HTTP/2`.
  public var httpVersion: String { parts[0].head.httpVersion }

  /// The body, decoded; empty when it went to streams.
  public internal(set) var body: ResponseBody {
    get { parts[0].body }
    set { parts[0].body = newValue }
  }

  /// Where it came from.
  public internal(set) var source: Source {
    get { parts[0].source }
    set { parts[0].source = newValue }
  }

  /// It was served from the cache.
  public var isCachedResponse: Bool { source != .network }

  /// No other completion follows; false only for the first of `.cachedThenFresh`.
  public internal(set) var isFinal: Bool {
    get { parts[0].isFinal }
    set { parts[0].isFinal = newValue }
  }

  /// Since when the origin made or confirmed the answer, for one that comes from the cache (RFC 9111
  /// section 4.2.3); nil for one from the network.
  public internal(set) var age: Duration? {
    get { parts[0].age }
    set { parts[0].age = newValue }
  }

  /// The URL that answered, after redirects.
  public internal(set) var finalURL: String {
    get { parts[0].finalURL }
    set { parts[0].finalURL = newValue }
  }

  /// Where the time went: for a confirmed answer from the cache that of the question, for any other from there zero.
  public internal(set) var metrics: Metrics {
    get { parts[0].metrics }
    _modify { yield &parts[0].metrics }
  }

  /// What became of each stream, in the order they were added.
  public internal(set) var streams: [StreamReport] {
    get { parts[0].streams }
    set { parts[0].streams = newValue }
  }

  /// The body as text: by its byte order mark, else by the `charset` of its `Content-Type`, else as UTF-8
  /// (also Latin-1 and UTF-16). Never fails: what cannot be read becomes U+FFFD. Nil without a body.
  public var text: String? {
    guard body.count > 0 else { return nil }
    let charset = headers.first("Content-Type").flatMap { MediaType($0)?.charset }
    return TextDecoding.decode(body.array[...], label: charset).text
  }

  /// The body as a picture, whatever `Content-Type` says; nil when it is none, or so cut off that its size cannot
  /// be read. Look at `isComplete`.
  public var image: NetworkImage? { NetworkImage(body) }

  /// Where an answer came from.
  public enum Source: String, Sendable, Hashable {
    /// The origin.
    case network
    /// The cache, without asking.
    case cache
    /// The cache, after the origin said that it still holds (304).
    case revalidated
  }

  /// What became of one stream.
  public struct StreamReport: Sendable {
    /// The target of a file stream.
    public internal(set) var path: String?
    /// Bytes it took.
    public internal(set) var bytes: Int64
    /// Why it was dropped (`onFailure: .dropStream`); nil when it got the whole body.
    public internal(set) var failure: NetworkError?
    /// The SHA-256 of them, 64 hexadecimal digits; nil when it was switched off.
    public var sha256: String? { digest.map(Hexadecimal.text) }
    /// The same as 32 bytes.
    var digest: [UInt8]?

    init(path: String? = nil, bytes: Int64 = 0, digest: [UInt8]? = nil) {
      self.path = path
      self.bytes = bytes
      self.digest = digest
    }
  }
}
