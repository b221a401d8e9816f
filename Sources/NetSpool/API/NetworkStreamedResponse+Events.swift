extension NetworkStreamedResponse {
  /// The events of an origin, one after the other: server-sent events (`text/event-stream`, WHATWG HTML
  /// section 9.2).
  ///
  /// A connection that ends, or that cannot be made again for a while, is replaced: after the time that the origin has
  /// asked for (`retry`, an hour at most), 3 s unless it has; after one that brought no event half a second at least, and twice
  /// as long after each failure up to a minute. The request is sent again with `Last-Event-ID`. A request that may not be sent
  /// twice, a POST without an ``NetworkRequest/idempotencyKey``, is not: its events end with its connection. The sequence ends when
  /// the origin answers 204, and with an error at any other refusal, at a type that is not `text/event-stream`, and for a request
  /// whose body can be sent only once; between two connections also when the engine's operations are cancelled or it is shut
  /// down. An event of more than ``NetworkEngine/Limits/bodyBytesInMemoryMax``, or one line of it of more than 1 MiB, ends with
  /// `.bodyTooLarge`.
  ///
  /// An origin that is silent for longer than ``NetworkRequest/Timeouts/stall`` is asked anew; set that to nil for one
  /// that does not send comments meanwhile.
  public struct Events: AsyncSequence, Sendable {
    let reader: BodyReader
    let head: ResponseHead

    /// Reads the events.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader, head) }

    /// Reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
      /// The one whose answer is read, or was last.
      private var operation: NetworkOperation
      /// As it was asked for: each connection prepares it anew.
      private var request: NetworkRequest
      private var first: ResponseHead?
      private var lines: Lines.AsyncIterator?
      private var parser: ServerEventParser
      private var failures = 0
      private var hadEvent = false
      private var isOver = false

      init(_ reader: BodyReader, _ head: ResponseHead) {
        operation = reader.operation
        request = operation.asked
        request.idempotencyKey = operation.request.idempotencyKey
        first = head
        lines = Lines.AsyncIterator(reader, endsAtCR: true)
        parser = ServerEventParser(eventBytesMax: operation.engine.configuration.limits.bodyBytesInMemoryMax)
      }

      /// The next event; nil when the origin has ended them. Throws a `NetworkError`, or `CancellationError`.
      public mutating func next() async throws -> Event? {
        if isOver { return nil }
        // Unless there is one: also when it throws.
        isOver = true
        let event = try await nextEvent()
        isOver = event == nil
        return event
      }

      private mutating func nextEvent() async throws -> Event? {
        if let head = first {
          first = nil
          if try Self.hasEnded(head) { return nil }
        }
        while true {
          do {
            if lines == nil, try await !connect() { return nil }
            if let event = try await nextOfConnection() { return event }
            if !mayAskAgain { return nil }
          } catch let error as NetworkError {
            guard error.isWorthAsking, mayAskAgain else { throw error }
          }
          lines = nil
        }
      }

      private var mayAskAgain: Bool {
        operation.request.prepared.canReplay && (request.method.isIdempotent || request.idempotencyKey != nil)
      }

      private mutating func nextOfConnection() async throws -> Event? {
        while let line = try await lines?.next() {
          failures = 0
          guard let event = try parser.take(line) else { continue }
          hadEvent = true
          return event
        }
        return nil
      }

      /// False when the origin has no more events.
      private mutating func connect() async throws -> Bool {
        let pause = ReconnectPause.time(retry: parser.retry, failures: failures, hadEvent: hadEvent)
        try await ReconnectPause(of: operation, pause).pass()
        failures += 1
        hadEvent = false
        parser.beginConnection()
        // One of the caller's own holds until the origin gives another.
        if let id = parser.lastID { request.headers["Last-Event-ID"] = id.unlessEmpty }
        request.cachePolicy = .noStore
        operation = operation.engine.operation(request)
        let answer = try await operation.engine.stream(operation)
        if try Self.hasEnded(answer.head) { return false }
        lines = Lines.AsyncIterator(answer.reader, endsAtCR: true)
        return true
      }

      private static func hasEnded(_ head: ResponseHead) throws(NetworkError) -> Bool {
        if head.status == 204 { return true }
        let type = head.headers.first("Content-Type").flatMap { MediaType($0) }
        guard head.status == 200, type?.isEventStream == true else {
          throw NetworkError(.decodeFailed, reason: "not text/event-stream", sendState: .answered)
        }
        return false
      }
    }
  }

  /// A server-sent event.
  public struct Event: Sendable, Hashable {
    /// Its kind; `message` when the origin does not say.
    public internal(set) var name: String
    /// Its text; several lines are joined by LF.
    public internal(set) var data: String
    /// The last number that the origin has given, this event's or an earlier one's; empty without.
    public internal(set) var id: String
  }
}

extension NetworkError {
  /// Another connection may do better.
  fileprivate var isWorthAsking: Bool {
    switch code {
    case .connectionLost, .bodyTruncated, .badChunk, .http2Failed, .connectFailed, .resolveFailed, .timedOut,
      .offline:
      true
    case .status: [500, 502, 503, 504, 429].contains(response?.status ?? 0)
    default: false
    }
  }
}
