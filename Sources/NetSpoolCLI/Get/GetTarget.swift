import Glibc
import NetSpool
import Synchronization

/// Where the body of one answer goes.
final class GetTarget {
  private enum Place {
    case standardOutput
    /// A pipe or device that was named as a file; open until the end.
    case device(number: Int32)
    case file(String)
    /// A folder; the server names the file.
    case named(RemoteNameStream)
  }

  private let place: Place
  private let device: Descriptor?
  /// The terminal is the target because nothing else was named.
  private let isGuarded: Bool
  private let path: String?

  /// - Parameter path: nil and `-` are standard output. What is no plain file is written to as it stands:
  ///   renaming a finished file over `/dev/null` or a FIFO would destroy it.
  init(_ path: String?) throws(IOFailure) {
    guard let path, path != "-" else {
      place = .standardOutput
      device = nil
      self.path = nil
      isGuarded = path == nil && isatty(1) == 1
      return
    }
    (self.path, isGuarded) = (path, false)
    if let status = FileFacts(path: path), !status.isPlainFile {
      let opened = try Descriptor(opening: path, O_WRONLY)
      place = .device(number: opened.number)
      device = .some(opened)
    } else {
      place = .file(path)
      device = nil
    }
  }

  /// A file in a folder whose name the server may give.
  init(in folder: String, fallback: String) {
    place = .named(RemoteNameStream(folder: folder, fallback: fallback))
    device = nil
    (path, isGuarded) = (nil, false)
  }

  /// Takes the body.
  /// - Parameter partBytesMin: of what is as long it leaves a part, and goes on with one; nil: it begins anew.
  func stream(partBytesMin: Int64?) -> any DownloadStream {
    switch place {
    case .standardOutput where isGuarded: TerminalStream(DescriptorDownloadStream(1, digests: false))
    case .standardOutput: DescriptorDownloadStream(1, digests: false)
    case .device(let number): DescriptorDownloadStream(number, digests: false)
    case .file(let path):
      FileDownloadStream(path: path, resume: partBytesMin != nil, partBytesMin: partBytesMin ?? 0)
    case .named(let stream): stream
    }
  }

  /// Whether it is a plain file, which appears when it is whole.
  var isFile: Bool {
    switch place {
    case .standardOutput, .device: false
    case .file, .named: true
    }
  }

  /// The file, as far as it is known; nil for standard output.
  var fileName: String? { if case .named(let stream) = place { stream.path } else { path } }

  /// Throws for bytes that `TerminalStream` would keep back.
  func check(_ bytes: [UInt8]) throws(Mistake) {
    if isGuarded, bytes.contains(0) { throw Mistake(TerminalStream.sentence) }
  }

  /// Writes bytes that no stream saw: all of them, or nothing. A reader of standard output that left has what it wanted.
  func publish(_ bytes: [UInt8]) throws(IOFailure) {
    switch place {
    case .standardOutput:
      do throws(IOFailure) { try StandardOutput.write(bytes) } catch {
        if error.code != EPIPE { throw error }
      }
    case .device: if device != nil { try device?.write(bytes) }
    case .file(let path): try WholeFile.write(bytes, to: path, mode: 0o666)
    case .named(let stream):
      let path = stream.path ?? stream.fallbackPath
      if stream.path == nil, FileFacts(path: path) != nil {
        throw IOFailure(action: "write over", path: path, code: EEXIST)
      }
      try WholeFile.write(bytes, to: path, mode: 0o666)
    }
  }
}

/// `-OJ`: a file whose name the server gives (RFC 6266). It goes into one folder, whatever the name says, and never over
/// a file that is there.
final class RemoteNameStream: DownloadStream {
  private let folder: String
  private let fallback: String
  private let inner = Mutex<FileDownloadStream?>(nil)

  init(folder: String, fallback: String) { (self.folder, self.fallback) = (folder, fallback) }

  /// Nil until the head is there.
  var path: String? { inner.withLock { $0?.path } }

  var fallbackPath: String { folder + fallback }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    let name = head.headers.values(for: "Content-Disposition").first.flatMap(ContentDisposition.fileName)
    let path = folder + (name ?? fallback)
    guard FileFacts(path: path) == nil else {
      throw IOFailure(action: "write over", path: path, code: EEXIST)
    }
    let stream = FileDownloadStream(path: path, digests: false)
    try stream.open(head, bytesExpected: bytesExpected)
    inner.withLock { $0 = stream }
  }

  func write(_ bytes: RawSpan) throws -> WriteResult {
    try inner.withLock { try $0?.write(bytes) } ?? .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) { inner.withLock { $0?.close(outcome) } }
}

/// `-z`: takes the body of an answer that the condition holds for, and touches nothing for another.
final class ConditionStream: DownloadStream {
  private let inner: any DownloadStream
  private let condition: TimeCondition
  private let takes = Atomic(false)

  init(_ inner: any DownloadStream, _ condition: TimeCondition) {
    (self.inner, self.condition) = (inner, condition)
  }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    guard condition.holds(head.headers) else { return }
    takes.store(true, ordering: .relaxed)
    try inner.open(head, bytesExpected: bytesExpected)
  }

  func write(_ bytes: RawSpan) throws -> WriteResult {
    takes.load(ordering: .relaxed) ? try inner.write(bytes) : .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) {
    if takes.load(ordering: .relaxed) { inner.close(outcome) }
  }
}

/// Keeps binary bytes from a terminal that was not named as the target.
final class TerminalStream: DownloadStream {
  static let sentence =
    "the body is binary and would garble the terminal: -o FILE keeps it, -o - shows it all the same"

  private let inner: any DownloadStream

  init(_ inner: any DownloadStream) { self.inner = inner }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    try inner.open(head, bytesExpected: bytesExpected)
  }

  func write(_ bytes: RawSpan) throws -> WriteResult {
    for offset in 0..<bytes.byteCount
    where unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0 {
      throw Mistake(Self.sentence)
    }
    return try inner.write(bytes)
  }

  func close(_ outcome: Result<Void, NetworkError>) { inner.close(outcome) }
}

/// Writes the head of an answer before its body, to the same place.
final class HeadedStream: DownloadStream {
  private let inner: any DownloadStream

  init(_ inner: any DownloadStream) { self.inner = inner }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    let text = HeadText.bytes(head.httpVersion, head.status, head.headers)
    try inner.open(head, bytesExpected: bytesExpected.map { $0 + Int64(text.count) })
    _ = try inner.write(unsafe text.span.bytes)
  }

  func write(_ bytes: RawSpan) throws -> WriteResult { try inner.write(bytes) }
  func close(_ outcome: Result<Void, NetworkError>) { inner.close(outcome) }
}

/// `--continue-at N`: the bytes from N on behind what a file has, as curl does it.
final class RestStream: DownloadStream {
  private let inner: FileDownloadStream
  private let start: Int64

  init(path: String, from start: Int64) {
    inner = FileDownloadStream(path: path, append: true, digests: false)
    self.start = start
  }

  /// A server that sends the whole does not know ranges.
  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    let range = head.headers.values(for: "Content-Range").first ?? ""
    guard start == 0 || head.status == 206 && range.hasPrefix("bytes \(start)-") else {
      throw Mistake("the server does not send the rest from byte \(start) on")
    }
    try inner.open(head, bytesExpected: bytesExpected)
  }

  func write(_ bytes: RawSpan) throws -> WriteResult { try inner.write(bytes) }
  func close(_ outcome: Result<Void, NetworkError>) { inner.close(outcome) }
}

/// Writes the head of an answer to a file of its own, and nothing of its body.
final class HeadDumpStream: WatchingStream {
  private let dump: @Sendable ([UInt8]) throws(IOFailure) -> Void

  init(_ dump: @escaping @Sendable ([UInt8]) throws(IOFailure) -> Void) { self.dump = dump }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    try dump(HeadText.bytes(head.httpVersion, head.status, head.headers))
  }
  func write(_ bytes: RawSpan) -> WriteResult { .accepted }
  func close(_ outcome: Result<Void, NetworkError>) {}
}

/// The head of an answer as text.
enum HeadText {
  static func bytes(_ version: String, _ status: Int, _ headers: NetworkRequest.Headers) -> [UInt8] {
    // An HTTP/2 answer has no phrase, and that of HTTP/1.1 says nothing (RFC 9112 section 4): the usual one stands there.
    let phrase = version == "HTTP/2" ? "" : phrases[status] ?? ""
    var text = "\(version) \(status) \(phrase)\r\n"
    for field in headers { text += "\(field.name): \(field.value)\r\n" }
    return Array((text + "\r\n").utf8)
  }

  private static let phrases: [Int: String] = [
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 412: "Precondition Failed",
    416: "Range Not Satisfiable", 429: "Too Many Requests", 500: "Internal Server Error",
    501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
  ]
}
