/// HTTP/2 on one connection (RFC 9113): each stream is a connection of its own to the origin's scripts. Lives on the
/// origin's thread.
final class HTTP2Session {
  /// The state of the session.
  enum Progress {
    case goesOn
    /// The connection is to end: all that was said has been sent.
    case ended
    case failed
  }

  private typealias Exchange = (stream: HTTP2Stream, connection: OriginConnection)

  /// Bytes made ready at a time.
  private static let outputBytesMax = 65_536

  private let wire: any Wire
  private let number: Int
  private let state: OriginState
  private var framer: HTTP2Framer?
  private var exchanges: [Int32: Exchange] = [:]
  private var streamCount = 0
  private var output = InputBuffer()
  private var isBlocked = false
  private var isBroken = false
  /// A script has ended the connection: what is ready goes out, and nothing else.
  private var isCut = false

  /// On a connection whose handshake is over, which has this number.
  init(_ wire: any Wire, number: Int, state: OriginState) throws(OriginError) {
    self.wire = wire
    self.number = number
    self.state = state
    framer = try HTTP2Framer(streamsMax: state.limits.streamsMax, owner: self)
  }

  /// True when an exchange of it waits for a gate, or for everything to be released.
  var isParked: Bool { exchanges.values.contains { $0.connection.isParked } }
  var wakeAt: ContinuousClock.Instant? { exchanges.values.compactMap { $0.connection.wakeAt }.min() }
  var waitsToWrite: Bool { isBlocked || !output.isEmpty || hasMoreToPlay }

  private var hasMoreToPlay: Bool {
    exchanges.values.contains { $0.connection.waitsToWrite && $0.stream.hasRoom }
  }

  func receive(_ bytes: ArraySlice<UInt8>) {
    guard let reason = framer?.receive(bytes) else { return }
    didReject(reason)
    isBroken = true
  }

  /// Lets each exchange play its turn, and sends what came of it.
  func advance(_ now: ContinuousClock.Instant) -> Progress {
    for id in exchanges.keys.sorted() { advance(id, now) }
    flush()
    if isBroken { return .failed }
    return output.isEmpty && (isCut || framer?.isOver != false) ? .ended : .goesOn
  }

  private func advance(_ id: Int32, _ now: ContinuousClock.Instant) {
    guard let exchange = exchanges[id], exchange.stream.didBegin else { return }
    exchange.connection.advance(now)
    // What the script has not read yet is kept from the client's window: that is how a client is made to wait.
    let read = exchange.stream.uncredited - exchange.connection.input.count
    guard read > 0 else { return }
    exchange.stream.uncredited -= read
    framer?.credit(read, on: id)
  }

  private func flush() {
    isBlocked = false
    while true {
      fill()
      guard !output.isEmpty else { return }
      switch wire.send(output.storage, output.start..<output.storage.count) {
      case .bytes(let count): output.consume(count)
      case .wouldBlock:
        isBlocked = true
        return
      case .end, .failed:
        isBroken = true
        return
      }
    }
  }

  private func fill() {
    while output.count < Self.outputBytesMax, !isCut {
      guard let bytes = framer?.nextOutput(), !bytes.isEmpty else { return }
      output.append(bytes[...])
    }
  }

  /// The connection has gone: so has every exchange.
  func abandon() {
    for exchange in exchanges.values { lose(exchange) }
    exchanges = [:]
    framer = nil
  }

  private func lose(_ exchange: Exchange) {
    exchange.stream.didClose()
    exchange.connection.didLoseClient()
  }
}

// What the client says, as the framer reads it.
extension HTTP2Session {
  func didBeginHead(_ id: Int32) {
    guard exchanges[id] == nil else { return }
    let stream = HTTP2Stream(id, self)
    let connection = OriginConnection(stream, number: number, state: state, firstRequest: streamCount)
    exchanges[id] = (stream, connection)
    streamCount += 1
  }

  func didReceive(_ field: HeaderField, on id: Int32) {
    guard let stream = exchanges[id]?.stream, stream.fieldBytes <= state.limits.headBytesMax else { return }
    stream.add(field)
  }

  func didReceiveHead(on id: Int32, isAll: Bool) {
    guard let (stream, connection) = exchanges[id] else { return }
    guard !stream.didBegin else {
      connection.endBody(trailers: stream.fields)
      return
    }
    let head = stream.takeHead(hasBody: !isAll)
    connection.begin(head, isTooLarge: stream.fieldBytes > state.limits.headBytesMax)
  }

  func didReceive(_ bytes: [UInt8], on id: Int32) {
    framer?.credit(bytes.count)
    guard let exchange = exchanges[id] else { return }
    exchange.stream.uncredited += bytes.count
    exchange.connection.input.append(bytes[...])
  }

  func didReceiveEnd(of id: Int32) { exchanges[id]?.connection.endBody(trailers: []) }

  func didReject(_ reason: String) { state.changeLog { $0.reject("HTTP/2: \(reason)") } }

  func didClose(_ id: Int32) {
    if let exchange = exchanges.removeValue(forKey: id) { lose(exchange) }
  }

  func takeBody(of id: Int32, atMost limit: Int) -> HTTP2Framer.Piece {
    guard let stream = exchanges[id]?.stream else { return .reset }
    let piece = stream.take(atMost: limit)
    if case .later = piece, case .cut? = stream.ending { isCut = true }
    return piece
  }
}

// What the scripts say, by way of their streams.
extension HTTP2Session {
  func submit(interim head: AnswerReader.Head, on stream: HTTP2Stream) {
    framer?.submit(interim: head.status, head.fields, on: stream.id)
  }

  func submit(_ head: AnswerReader.Head, on stream: HTTP2Stream) {
    framer?.submit(head.status, head.fields, on: stream.id)
    if head.closes { framer?.goAway() }
  }

  /// There is more of the body, or its end.
  func didGrow(_ stream: HTTP2Stream) {
    guard stream.isDeferred else { return }
    stream.isDeferred = false
    framer?.resume(stream.id)
  }

  /// No head of an answer was sent, and none will be.
  func end(_ stream: HTTP2Stream, _ ending: HTTP2Stream.Ending) {
    if case .cut = ending { isCut = true } else { framer?.reset(stream.id, .internalError) }
  }

  /// The answer is whole, and the rest of the client's bytes is not read.
  func stopReading(_ stream: HTTP2Stream) { framer?.reset(stream.id, .none) }
}
