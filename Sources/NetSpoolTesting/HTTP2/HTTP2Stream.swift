/// A request and its answer on an HTTP/2 connection, as a wire that is spoken HTTP/1.1 over: the origin's
/// scripts, gates and faults know no difference, as origins behind a gateway know none.
///
/// A reset is a RST_STREAM. An end before the answer is whole ends the connection, whatever else is on it: at the end of
/// a stream there is nothing to tell a body that was cut.
final class HTTP2Stream: Wire {
  enum Ending {
    /// The answer is whole.
    case whole(trailers: [HeaderField])
    case reset
    /// The whole connection is to end.
    case cut
  }

  /// Of the body, waiting for the client's window. Beyond it the script waits.
  private static let bufferBytesMax = 65_536

  let id: Int32
  /// Of the answer, what the client has had no room for yet.
  private var body = InputBuffer()
  private(set) var ending: Ending?
  /// nghttp2 has asked for more than there was, and must be told when there is more.
  var isDeferred = false
  /// Of the request's head, as it comes in, or of its trailers.
  private(set) var fields: [HeaderField] = []
  private(set) var fieldBytes = 0
  private(set) var didBegin = false
  /// Bytes of the request's body for which the client has no room again yet.
  var uncredited = 0

  private unowned let session: HTTP2Session
  private var reader = AnswerReader(method: "GET")
  private var didAnswer = false
  private var didSendEnd = false
  private var isFinished = false

  init(_ id: Int32, _ session: HTTP2Session) {
    self.id = id
    self.session = session
  }

  var needsHandshake: Bool { false }
  func shakeHands() -> Handshake { .done(speaksHTTP2: false) }

  /// Requests come in another way: ``HTTP2Session`` hands them over.
  func receive(into buffer: inout [UInt8]) -> Socket.Transfer { .wouldBlock }

  func send(_ bytes: [UInt8], _ range: Range<Int>) -> Socket.Transfer {
    let room = Self.bufferBytesMax - body.count
    guard room > 0, ending == nil else { return ending == nil ? .wouldBlock : .bytes(range.count) }
    let part = bytes[range].prefix(room)
    reader.read(part) { see($0) }
    session.didGrow(self)
    return .bytes(part.count)
  }

  private func see(_ event: AnswerReader.Event) {
    switch event {
    case .interim(let head): session.submit(interim: head, on: self)
    case .head(let head):
      didAnswer = true
      session.submit(head, on: self)
    case .body(let bytes): body.append(bytes)
    case .end(let trailers): ending = .whole(trailers: trailers)
    case .malformed: end(.reset)
    }
  }

  func endSending() {
    guard ending == nil else { return }
    end(reader.endsHere() ? .whole(trailers: []) : .cut)
  }

  /// A client that still sends has its answer, and is told to stop (RFC 9113 section 8.1).
  func finish() {
    endSending()
    isFinished = true
    if didSendEnd { session.stopReading(self) }
  }

  func reset() { end(.reset) }

  /// Bytes that were sent before go out before.
  private func end(_ how: Ending) {
    guard ending == nil else { return }
    ending = how
    if didAnswer {
      session.didGrow(self)
    } else {
      session.end(self, how)
    }
  }

  /// The client has it all, or has gone.
  func didClose() {
    ending = .reset
    didSendEnd = false
  }

  /// The next of the body, and at its end what the end is.
  func take(atMost limit: Int) -> HTTP2Framer.Piece {
    if !body.isEmpty {
      let part = Array(body.unread.prefix(limit))
      body.consume(part.count)
      return .bytes(part)
    }
    switch ending {
    case .whole(let trailers):
      didSendEnd = true
      if isFinished { session.stopReading(self) }
      return .end(trailers: trailers)
    case .reset: return .reset
    case .cut, nil:
      isDeferred = true
      return .later
    }
  }

  var hasRoom: Bool { ending == nil && body.count < Self.bufferBytesMax }

  /// A field of the head, or of the trailers if the head is over.
  func add(_ field: HeaderField) {
    fieldBytes += field.name.utf8.count + field.value.utf8.count + 4
    fields.append(field)
  }

  /// The head is there. nghttp2 has seen to it that the pseudo-header fields are.
  func takeHead(hasBody: Bool) -> RequestHead {
    didBegin = true
    let method = fields.first(":method") ?? ""
    reader = AnswerReader(method: method)
    var kept = fields.filter { !$0.name.hasPrefix(":") }
    if let authority = fields.first(":authority") { kept.insert(HeaderField("host", authority), at: 0) }
    let target = fields.first(":path") ?? fields.first(":authority") ?? "*"
    fields = []
    return RequestHead(method: method, target: target, fields: kept, hasBody: hasBody)
  }
}
