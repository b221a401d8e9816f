/// A whole answer.
public struct NetworkResponse: Sendable {
  var core: Response
  init(_ core: Response) { self.core = core }

  /// The status code: 100 to 599.
  public var status: Int { core.head.status }
  /// The header fields as received, at most 128 KiB in 256 lines.
  public var headers: HTTPHeaders { HTTPHeaders(core: core.head.headers) }
  /// Fields that came after the body.
  public var trailers: HTTPHeaders { HTTPHeaders(core: core.head.trailers) }
  /// The body, decoded; empty when it went to streams.
  public var body: ResponseBody { ResponseBody(core: core.body) }
  /// Where it came from.
  public var source: Source { Source(core.source) }
  /// It was served from the cache.
  public var isCachedResponse: Bool { core.source != .network }
  /// No other completion follows; false only for the first of `.cachedThenFresh`.
  public var isFinal: Bool { core.isFinal }
  /// Seconds since the origin made or confirmed the answer, for one that comes from the cache (RFC 9111
  /// section 4.2.3); nil for one from the network.
  public var age: Double? { core.age }
  /// The URL that answered, after redirects.
  public var finalURL: String { core.finalURL }
  /// The HTTP version of the answer: `HTTP/1.1`, `HTTP/2`.
  public var httpVersion: String { core.head.version.name }
  /// Where the time went: for a confirmed answer from the cache that of the question, for any other from there zero.
  public var metrics: TransferMetrics { TransferMetrics(core: core.metrics, httpVersion: httpVersion) }
  /// What became of each stream, in the order they were added.
  public var streams: [StreamReport] { core.streams.map(StreamReport.init) }

  /// The body as text: by its byte order mark, else by the `charset` of its `Content-Type`, else as UTF-8
  /// (also Latin-1 and UTF-16). Never fails: what cannot be read becomes U+FFFD. Nil without a body.
  public var text: String? { core.text }

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

    init(_ core: Response.Source) {
      self =
        switch core {
        case .network: .network
        case .cache: .cache
        case .revalidated: .revalidated
        }
    }
  }
}

/// What became of one stream.
public struct StreamReport: Sendable {
  /// The target of a file stream.
  public let path: String?
  /// Bytes it took.
  public let bytes: Int64
  /// The SHA-256 of them, 64 hexadecimal digits; nil when it was switched off.
  public let sha256: String?

  init(_ core: SinkReport) {
    path = core.path
    bytes = core.bytes
    sha256 = core.sha256.map(Hexadecimal.text)
  }
}
