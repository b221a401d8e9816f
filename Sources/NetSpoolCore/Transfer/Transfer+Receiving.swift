/// What libcurl's callbacks tell: head lines and body bytes.
extension Transfer {
  /// False ends the transfer.
  func received(header line: RawSpan) -> Bool {
    do throws(Failure) {
      if case .head(let head) = try parser.line(line) { try received(head: head) }
      return true
    } catch {
      machine.handle(.fail(error))
      return false
    }
  }

  private func received(head: ResponseHead) throws(Failure) {
    if self.head != nil { return }  // a second head of the same exchange: an authentication round
    self.head = head
    let use = onHead(self, head)
    let limit = use.streams ? plan.limits.bodyBytesStreamedMax : Int64(plan.limits.bodyBytesInMemoryMax)
    machine.handle(.head(use, bytesMax: use == .discard ? .max : limit))
    guard hasBody(head) else { return openSinks(use, head, 0) }
    if let expected = parser.framing.contentLength, expected > limit, use != .discard {
      throw Failure(
        .bodyTooLarge, reason: "\(expected) bytes announced, \(limit) allowed", sendState: .answered)
    }
    if use != .discard, plan.decodes, parser.framing.hasContentEncoding {
      decoder = try ContentDecoder.make(for: head.headers, limits: plan.limits.decoding)
    }
    bytesExpected = decoder == nil ? parser.framing.contentLength : nil
    if use.collects, let bytesExpected { collected.reserveCapacity(Int(bytesExpected)) }
    openSinks(use, head, bytesExpected)
  }

  private func hasBody(_ head: ResponseHead) -> Bool {
    plan.method != .head && head.status != 204 && head.status != 304
  }

  private func openSinks(_ use: BodyUse, _ head: ResponseHead, _ expected: Int64?) {
    if use.streams { fanout?.open(head, bytesExpected: expected) }
  }

  func received(body bytes: RawSpan) -> Intake {
    if isPausedByUser { return .pause }
    if let fanout, fanout.isCongested {
      isPausedByReader = true
      return .pause
    }
    isReading = true
    defer { isReading = false }
    guard decoder != nil else { return take(bytes) }
    return decode(bytes)
  }

  private func decode(_ bytes: RawSpan) -> Intake {
    var intake = Intake.taken
    do {
      try decoder?.decode(bytes) { piece in
        intake = take(piece)
        if intake == .abort { throw Stop() }
      }
      return intake
    } catch let failure as Failure {
      machine.handle(.fail(failure))
    } catch {}  // ours: the reason is noted already
    return .abort
  }

  private struct Stop: Error {}

  private func take(_ bytes: RawSpan) -> Intake {
    switch machine.handle(.bytes(bytes.byteCount)) {
    case .proceed, .stop: return .abort
    case .use(let use):
      if use.collects { collected.append(bytes) }
      if use.streams {
        hasStreamed = true
        fanout?.write(bytes)
      }
      return machine.failure == nil ? .taken : .abort
    }
  }
}
