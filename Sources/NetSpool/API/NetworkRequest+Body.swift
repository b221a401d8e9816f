extension NetworkRequest {
  /// The body of a request. Its `Content-Type` is set from it unless the request has one.
  public enum Body: Sendable {
    /// Nothing.
    case none
    /// Bytes as they are, with their type.
    case bytes([UInt8], contentType: String? = nil)
    /// `application/x-www-form-urlencoded`, in order.
    case form(Parameters)
    /// JSON text that is ready.
    case json([UInt8])
    /// Fields and files.
    case multipart(Multipart)
    /// A file, streamed; it must not change between enqueueing and sending (`.uploadSourceFailed`).
    case file(String, contentType: String? = nil)
    /// Bytes that are made while they are sent.
    case stream(any UploadStream, contentType: String? = nil)
    /// The request's parameters, encoded by a closure. It runs once, on the thread that enqueues.
    case custom(contentType: String, encode: @Sendable (Parameters) throws -> [UInt8])
  }
}

extension NetworkRequest.Body: ExpressibleByStringInterpolation {
  /// Text, as ``text(_:)``.
  public init(stringLiteral text: String) { self = .text(text) }

  /// `text/plain; charset=utf-8`.
  public static func text(_ text: String) -> Self {
    .bytes(Array(text.utf8), contentType: "text/plain; charset=utf-8")
  }

  /// JSON text that is ready.
  public static func json(_ text: String) -> Self { .json([UInt8](text.utf8)) }

  /// Bytes of any kind, Foundation's `Data` for one, as they are, with their type.
  public static func data(_ bytes: some Sequence<UInt8>, contentType: String? = nil) -> Self {
    .bytes(Array(bytes), contentType: contentType)
  }
}

/// A `multipart/form-data` body (RFC 7578): fields and files in order.
///
/// Files are streamed from disk while the body is sent; the length is known beforehand and nothing is copied
/// as a whole. The boundary is random for every value (128 bits), so no content needs to be searched for it: it cannot be
/// guessed by who wrote a file, and does not turn up by chance.
public struct Multipart: Sendable {
  var parts: [Part] = []
  /// Stands between the parts; equal in every attempt of one request.
  let boundary: String

  /// No parts yet.
  public init() {
    var generator = SystemRandomNumberGenerator()
    self.init(using: &generator)
  }

  init(using generator: inout some RandomNumberGenerator) {
    boundary = "NetSpool-" + Hexadecimal.text(generator.next()) + Hexadecimal.text(generator.next())
  }

  var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// The type that a field names, `multipart/related` or another kind, with the boundary that stands in the body. What is no
  /// multipart type stays as it is.
  func contentType(named field: String) -> String {
    field.lowercased().hasPrefix("multipart/")
      ? "\(Self.withoutBoundary(field)); boundary=\(boundary)" : field
  }

  static func withoutBoundary(_ field: String) -> String {
    field.split(separator: ";").filter {
      !$0.drop { $0 == " " }.lowercased().hasPrefix("boundary=")
    }.joined(separator: ";")
  }

  /// Appends bytes; with a file name a server takes them for an uploaded file.
  public mutating func addData(
    _ bytes: some Sequence<UInt8>, forKey key: String, mimeType: String? = nil, fileName: String? = nil
  ) {
    parts.append(Part(name: key, fileName: fileName, mimeType: mimeType, content: .bytes(Array(bytes))))
  }

  /// Appends a field of text.
  public mutating func addField(_ text: String, forKey key: String) { addData(text.utf8, forKey: key) }

  /// Appends a file, under its base name unless another is given; it is read while the request is sent. One that is missing or unreadable ends
  /// the operation with `.uploadSourceFailed` before anything is sent.
  public mutating func addFile(
    _ path: String, forKey key: String, mimeType: String? = nil, fileName: String? = nil
  ) {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:))
    let fileName = fileName ?? String(path[(start ?? path.startIndex)...])
    parts.append(Part(name: key, fileName: fileName, mimeType: mimeType, content: .file(path)))
  }

  /// A field or a file.
  struct Part: Hashable, Sendable {
    enum Content: Hashable, Sendable {
      case bytes([UInt8])
      case file(String)
    }

    var name: String
    var fileName: String?
    var mimeType: String?
    var content: Content

    /// The type sent: the one given, else `application/octet-stream` for a file and none for a field.
    var sentType: String? { mimeType ?? (fileName == nil ? nil : "application/octet-stream") }
  }
}

extension NetworkRequest {
  /// The encoding of parameters in a body.
  public enum ParameterEncoding: Sendable, Hashable {
    /// `application/x-www-form-urlencoded`; the default.
    case form
    /// A flat JSON object: numbers and truth values as such, all else as strings.
    case json
  }

  /// Names and values in order, repeats allowed: a query or a form.
  public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    var pairs: [Parameter]

    init(pairs: [Parameter]) { self.pairs = pairs }

    /// Pairs in the order they are written: `["q": "map", "page": 2, "exact": true]`.
    public init(dictionaryLiteral pairs: (String, any LosslessStringConvertible)...) {
      // Nearly all operations have none.
      self.pairs = pairs.isEmpty ? [] : pairs.map { Parameter($0.0, of: $0.1) }
    }

    /// The pairs of a dictionary, by name.
    public init(_ dictionary: [String: String]) {
      self.init(dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// Pairs in the order they come.
    public init(_ pairs: some Sequence<(String, String)>) { self.pairs = pairs.map { Parameter($0.0, $0.1) } }

    /// Adds a pair at the end.
    public mutating func append(_ name: String, _ value: some LosslessStringConvertible) {
      pairs.append(Parameter(name, of: value))
    }

    /// The first value of a name; setting it takes the place of all of that name, and nil removes them.
    public subscript(name: String) -> String? {
      get { pairs.first { $0.name == name }?.value }
      set {
        let place = pairs.firstIndex { $0.name == name } ?? pairs.count
        pairs.removeAll { $0.name == name }
        if let newValue { pairs.insert(Parameter(name, newValue), at: place) }
      }
    }

    /// The number of pairs.
    public var count: Int { pairs.count }
    /// True when there are none.
    public var isEmpty: Bool { pairs.isEmpty }
  }
}

extension NetworkRequest.Parameters: Sequence {
  /// The pairs in order.
  public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
    pairs.map { ($0.name, $0.value) }.makeIterator()
  }
}

/// A request body that is produced while it is sent.
///
/// All calls come on the loop thread, one at a time: `open`, any number of `read`, `close`; again from
/// `open` for another attempt if `isReopenable`. None may block.
public protocol UploadStream: Sendable {
  /// Bytes in all; nil sends the body in chunks. A stream that gives more or less ends with
  /// `.uploadLengthMismatch`.
  var length: Int64? { get }
  /// The same bytes can be given again after `close`; without it the request is not repeated, and the stream opened when a
  /// connection wants its first byte. No stream is ever frozen.
  var isReopenable: Bool { get }
  /// The first byte is wanted next.
  func open() throws
  /// The next bytes, at most so many.
  func read(atMost count: Int) throws -> UploadChunk
  /// Exactly once per `open`, however it ended.
  func close()
}

extension UploadStream {
  /// True unless said otherwise.
  public var isReopenable: Bool { true }
}

/// A piece that an upload stream gives.
public enum UploadChunk: Sendable, Hashable {
  /// The next bytes; at least one.
  case bytes([UInt8])
  /// None now; asked again after 10 ms. One who has none for `Timeouts.headers` ends the request.
  case pause
  /// No more.
  case end
}
