// From bytes to a whole request, and from that to an answer.
extension OriginConnection {
  func readHead() -> Bool {
    do throws(RequestFault) {
      guard let bytes = try input.takeHead(limits: state.limits) else { return needMore(in: "a head") }
      if requestCount == 0, bytes.elementsEqual("PRI * HTTP/2.0\r\n\r\n".utf8) {
        beginHTTP2(bytes)
        return true
      }
      begin(Exchange(head: try RequestHead(bytes), index: requestCount))
    } catch {
      reject(error)
    }
    return true
  }

  /// The head of an HTTP/2 request is there.
  func begin(_ head: RequestHead, isTooLarge: Bool) {
    if isTooLarge {
      reject(RequestFault("a head of more than \(state.limits.headBytesMax) bytes", status: 431))
    } else {
      begin(Exchange(head: head, index: requestCount))
    }
  }

  /// The head is there: answers that do not wait for the body go first, then the expectation.
  private func begin(_ exchange: Exchange) {
    requestCount += 1
    phase = .body
    var exchange = exchange
    let early = state.earlyAnswer(
      RecordedRequest(exchange, connection: number), path: exchange.path, method: exchange.head.method)
    exchange.bodyFault = early?.requestBodyFault
    exchange.early = early
    self.exchange = exchange
    if let early, early.requestBodyFault == nil {
      _ = state.record(RecordedRequest(exchange, connection: number))
      self.exchange?.isAnswered = true
      respond(early, then: exchange.reader.isDone ? .request : .body)
    } else if exchange.head.expectsContinue, !exchange.reader.isDone, input.isEmpty {
      meetExpectation()
    }
  }

  private func meetExpectation() {
    switch state.expectPolicy {
    case .ignore: break
    case .answer: start([.run(ByteRun(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)))], then: .body)
    case .refuse:
      recordIncomplete()
      respond(Answer.status(417).closing(), then: .close)
    }
  }

  func readBody() -> Bool {
    guard var exchange else { return false }
    // Taken out and put back, so that the kept body is not copied each time it grows.
    self.exchange = nil
    let outcome = Result { () throws(RequestFault) in
      try exchange.reader.read(input.unread, limits: state.limits)
    }
    if let bodyTrailers, case .success(input.count) = outcome { exchange.reader.end(trailers: bodyTrailers) }
    let count = exchange.reader.count
    let fault = exchange.bodyFault.flatMap { count >= $0.after ? $0.action : nil }
    if fault != nil { exchange.bodyFault = nil }
    let isDone = exchange.reader.isDone
    self.exchange = exchange
    switch outcome {
    case .success(let count): input.consume(count)
    case .failure(let error):
      reject(error)
      return true
    }
    if let fault { return strike(fault) }
    guard isDone else { return needMore(in: "a body") }
    didReadRequest()
    return true
  }

  /// A fault that waits for no request.
  func strikeAtAccept(_ action: FaultAction) { start([.act(action)], then: .handshake) }

  private func strike(_ action: FaultAction) -> Bool {
    if action == .reset || action == .close { recordIncomplete() }
    start([.act(action)], then: .body)
    return true
  }

  private func didReadRequest() {
    guard let exchange else { return }
    guard !exchange.isAnswered else {
      self.exchange = nil
      phase = .head
      return
    }
    let recorded = state.record(RecordedRequest(exchange, connection: number))
    self.exchange?.number = recorded.number
    if recorded.isHeld { phase = .held } else { answer() }
  }

  private func recordIncomplete() {
    if let exchange { _ = state.record(RecordedRequest(exchange, connection: number)) }
  }

  /// Answers the whole request.
  func answer() {
    guard let exchange else { return }
    let answer = exchange.early ?? state.answer(RecordedRequest(exchange, connection: number))
    respond(answer, then: .request)
  }

  private func respond(_ answer: Answer, then following: Next) {
    guard let head = exchange?.head else { return }
    let compiled = AnswerCompiler(answer: answer, method: head.method, clientKeepsAlive: head.keepsAlive)
      .compile()
    start(compiled.steps, then: compiled.closes ? .close : following)
  }

  private func start(_ steps: [WirePart.Step], then following: Next) {
    player = ScriptPlayer(steps, releaseCount: state.releaseCount)
    next = following
    phase = .playing
  }

  private func reject(_ fault: RequestFault) {
    state.changeLog { $0.reject(fault.reason) }
    let answer = Answer.text(fault.reason + "\n", status: fault.status).closing()
    start(
      AnswerCompiler(answer: answer, method: "GET", clientKeepsAlive: false).compile().steps, then: .close)
  }

  /// Waits for more input; the end of it between two requests is in order, elsewhere it is not.
  func needMore(in place: String) -> Bool {
    guard sawEnd else { return false }
    if phase == .body || !input.isEmpty {
      state.changeLog { $0.reject("the connection ended inside \(place)") }
    }
    abandon()
    return false
  }
}
