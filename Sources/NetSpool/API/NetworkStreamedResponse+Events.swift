extension NetworkStreamedResponse {
  /// What an origin tells, one event after the other: server-sent events (`text/event-stream`, WHATWG HTML section 9.2).
  ///
  /// A connection that ends, or that cannot be made again for a while, is replaced: after the time that the origin has
  /// asked for (`retry`), 3 s unless it has, and twice as long after each failure up to a minute. The request is sent
  /// again with `Last-Event-ID`. The sequence ends when the origin answers 204, and with an error at any other refusal, at
  /// a type that is not `text/event-stream`, and for a request whose body can be sent only once.
  ///
  /// An event with more than 16 MiB of data ends the sequence with `.bodyTooLarge`.
  ///
  /// An origin that is silent for longer than ``NetworkRequest/Timeouts/stall`` is asked anew; set that to nil for one
  /// that does not send comments meanwhile.
  public struct Events: AsyncSequence, Sendable {
    let reader: BodyReader
    let head: ResponseHead

    /// Reads the events.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(engine: reader.operation.engine, request: reader.operation.request, reader, head)
    }

    /// Reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let engine: NetworkEngine
      private var request: NetworkRequest
      private var first: ResponseHead?
      private var lines: Lines.AsyncIterator?
      private var parser = ServerEventParser()
      private var failures = 0

      init(engine: NetworkEngine, request: NetworkRequest, _ reader: BodyReader, _ head: ResponseHead) {
        self.engine = engine
        self.request = request
        first = head
        lines = Lines.AsyncIterator(reader, endsAtCR: true)
      }

      /// The next event; nil when the origin has ended them. Throws a `NetworkError`, or `CancellationError`.
      public mutating func next() async throws -> Event? {
        if let head = first {
          first = nil
          if try Self.hasEnded(head) { return nil }
        }
        while true {
          do {
            if lines == nil, try await !connect() { return nil }
            if let event = try await nextOfConnection() { return event }
          } catch let error as NetworkError {
            guard error.isWorthAsking, request.prepared.canReplay else { throw error }
          }
          lines = nil
        }
      }

      private mutating func nextOfConnection() async throws -> Event? {
        while let line = try await lines?.next() {
          failures = 0
          if let event = try parser.take(line) { return event }
        }
        return nil
      }

      /// False when the origin has no more events.
      private mutating func connect() async throws -> Bool {
        try await Task.sleep(for: pause)
        failures += 1
        parser.beginConnection()
        if !parser.lastID.isEmpty { request.headers.set("Last-Event-ID", parser.lastID) }
        request.cachePolicy = .noStore
        let answer = try await engine.stream(request)
        if try Self.hasEnded(answer.head) { return false }
        lines = Lines.AsyncIterator(answer.reader, endsAtCR: true)
        return true
      }

      private var pause: Duration {
        let longest = Swift.max(parser.retry, .seconds(60))
        return Swift.min(parser.retry * (1 << Swift.min(failures, 10)), longest)
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

  /// One server-sent event.
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
