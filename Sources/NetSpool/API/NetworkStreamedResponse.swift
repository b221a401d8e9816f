/// An answer whose body is still coming: the head at once, the body as you read it.
///
/// A reader that is slower than the network pauses the transfer; up to about 1 MiB is kept meanwhile. A reader that leaves
/// (a `break`, a thrown error, a cancelled task, the last reference gone) cancels it. Streams have no total limit of time
/// unless it is set; the time in which you do not read counts for none.
/// ```swift
/// let answer = try await engine.stream(NetworkRequest(path: "export.csv"))
/// for try await line in answer.lines { print(line) }
/// ```
public struct NetworkStreamedResponse: Sendable {
  let reader: BodyReader
  /// Status and fields.
  public let head: ResponseHead
  /// The length of the body, decoded or not, if the origin says it.
  public let bytesExpected: Int64?

  /// The status code.
  public var status: Int { head.status }
  /// The header fields.
  public var headers: NetworkRequest.Headers { head.headers }
  /// The body in pieces as they come. It can be read once; two readers share the pieces.
  public var body: Body { Body(reader: reader) }
  /// The body in lines.
  public var lines: Lines { Lines(reader: reader) }
  /// The events that the body tells of; see ``Events``.
  public var events: Events { Events(reader: reader, head: head) }
  /// The times and the bytes; nil until the body has ended.
  public var metrics: NetworkResponse.Metrics? { reader.result?.answer?.metrics }
}

extension NetworkStreamedResponse: CustomStringConvertible, CustomReflectable {
  /// Status, version and URL, secrets masked.
  public var description: String {
    "\(status) \(head.httpVersion), streamed, \(Redaction.standard.url(reader.operation.request.url))"
  }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}

extension NetworkEngine {
  /// Sends a request and returns when the head of its answer is there; the body is yours to read.
  ///
  /// Throws a `NetworkError`, also for a status of 400 or more, or `CancellationError` when the task was cancelled.
  public func stream(_ request: NetworkRequest) async throws -> NetworkStreamedResponse {
    try await stream(operation(request))
  }

  /// Enqueues an operation, with whatever handlers it has, and returns when the head of its answer is there.
  ///
  /// Throws a `NetworkError`, also for a status of 400 or more, or `CancellationError` when the task was cancelled. One that was
  /// enqueued already is `.invalidRequest` (`enqueued`): its body may have gone by.
  public func stream(_ operation: NetworkOperation) async throws -> NetworkStreamedResponse {
    let reader = try BodyReader(operation)
    enqueue(operation)
    let (head, bytesExpected) = try await reader.head()
    return NetworkStreamedResponse(reader: reader, head: head, bytesExpected: bytesExpected)
  }
}

/// Leaves the body when its iterator goes away.
private final class Reading: Sendable {
  let reader: BodyReader
  init(_ reader: BodyReader) { self.reader = reader }
  deinit { reader.leave() }
}

extension NetworkStreamedResponse {
  /// The body in pieces of at most 512 KiB, decoded.
  public struct Body: AsyncSequence, Sendable {
    let reader: BodyReader

    /// Reads the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader) }

    /// Reads the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let reading: Reading
      init(_ reader: BodyReader) { reading = Reading(reader) }

      /// The next piece; nil at the end of a whole body. Throws a `NetworkError`, or `CancellationError`.
      public mutating func next() async throws -> ResponseBytes? {
        try await reading.reader.next().map { ResponseBytes($0) }
      }
    }
  }

  /// The body as text, line by line, without the ends (LF or CR LF). Bytes that are no UTF-8 become U+FFFD. A line of
  /// more than 1 MiB ends with `.bodyTooLarge`.
  public struct Lines: AsyncSequence, Sendable {
    let reader: BodyReader

    /// Reads the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader, endsAtCR: false) }

    /// Reads the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let reading: Reading
      private var splitter: LineSplitter

      init(_ reader: BodyReader, endsAtCR: Bool) {
        reading = Reading(reader)
        splitter = LineSplitter(endsAtCR: endsAtCR)
      }

      /// The next line; nil at the end of a whole body. Throws a `NetworkError`, or `CancellationError`.
      public mutating func next() async throws -> String? {
        while true {
          if let line = try splitter.next() { return line }
          guard let bytes = try await reading.reader.next() else { return try splitter.last() }
          splitter.append(bytes)
        }
      }
    }
  }
}
