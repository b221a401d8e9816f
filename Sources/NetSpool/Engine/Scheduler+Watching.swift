internal import Synchronization

/// When it was last said who had held the loop, and how often it has not been said since.
struct HeldLog {
  private var saidAt: Microseconds?
  private var left = 0

  /// At most so often.
  private static let period: Microseconds = 1_000_000

  /// The line to say, if it is time for one.
  mutating func line(_ name: String, _ time: Microseconds, now: Microseconds) -> String? {
    if let saidAt, now - saidAt < Self.period {
      left += 1
      return nil
    }
    defer { (saidAt, left) = (now, 0) }
    let more = left > 0 ? ", and \(left) times more since the last line" : ""
    return "the loop was held for \(time / 1000) ms by \(name)\(more)"
  }
}

/// Twenty times a second while anything runs: limits of time, and progress.
extension Scheduler {
  func didTick(_ number: Int) {
    let now = MonotonicClock.now
    // Lets those go that have none: they keep the memory of their stores.
    guard !exchanges.running.isEmpty else { return cacheSide.claims.beat(now: now) }
    // Those that end leave `running`, so they are collected first.
    let expired = exchanges.running.compactMap { transfer in transfer.expired(now: now).map { (transfer, $0) }
    }
    for (transfer, failure) in expired {
      transfer.fail(failure)
      completed(transfer, code: nil)
    }
    for transfer in exchanges.running.filter({ $0.dawdles(now: now) }) where transfer.leaveBody() {
      completed(transfer, code: MultiHandle.writeFailed)
    }
    for transfer in exchanges.running where transfer.exchange.speaksHTTP2 {
      transfer.endIfSentInVain(now: now)
    }
    // Those that connect to an address that does not answer try the next.
    for transfer in exchanges.running {
      guard let operation = transfer.exchange.owner as? NetworkOperation, let origin = operation.loop.origin,
        names.giveUpAddress(of: transfer, operation, at: origin, now: now)
      else { continue }
      connectAgain(operation, transfer)
    }
    seats.letOthersPass(exchanges.running, now: now)
    cacheSide.claims.beat(now: now)
    if number % 2 == 0 { for transfer in exchanges.running { reportProgress(transfer) } }
    loop.markDirty()
  }

  /// At most ten times a second, and only what moved.
  private func reportProgress(_ transfer: Transfer) {
    guard let operation = transfer.exchange.owner as? NetworkOperation else { return }
    // The body of a redirect, or of an answer that is asked for again, is nobody's progress.
    let delivered = operation.loop.history?.delivered ?? (received: 0, sent: 0)
    let hasReceived =
      transfer.bodyBytes > max(transfer.exchange.reportedBytes, delivered.received)
      && transfer.bodyUse != .discard
    let hasSent = transfer.exchange.bytesSent > max(transfer.exchange.reportedSent, delivered.sent)
    guard hasReceived || hasSent else { return }
    transfer.exchange.reportedBytes = transfer.bodyBytes
    transfer.exchange.reportedSent = transfer.exchange.bytesSent
    let received = progress(transfer.bodyBytes, of: transfer.exchange.bytesExpected, transfer)
    let sent = progress(transfer.exchange.bytesSent, of: transfer.exchange.bytesToSend, transfer)
    operation.forEachRecipient { recipient in
      let wants = recipient.wantedProgress
      if hasReceived && wants.download { context.tell(recipient, .download(received)) }
      if hasSent && wants.upload { context.tell(recipient, .upload(sent)) }
    }
  }

  /// The last word, whatever the clock says.
  func reportLastProgress(_ operation: NetworkOperation, _ transfer: Transfer) {
    guard transfer.exchange.head != nil else { return }
    operation.forEachRecipient { recipient in
      let wants = recipient.wantedProgress
      // A body of unknown length has its length now.
      if wants.upload,
        let total = transfer.exchange.bytesToSend
          ?? (transfer.exchange.bytesSent > 0 ? transfer.exchange.bytesSent : nil)
      {
        context.tell(recipient, .upload(progress(transfer.exchange.bytesSent, of: total, transfer)))
      }
      if wants.download {
        let done = transfer.bodyBytes
        context.tell(
          recipient, .download(progress(done, of: transfer.exchange.bytesExpected ?? done, transfer)))
      }
    }
  }

  private func progress(_ done: Int64, of total: Int64?, _ transfer: Transfer) -> TransferProgress {
    let seconds = Double(max(1, MonotonicClock.now - transfer.exchange.startedAt)) / 1e6
    return TransferProgress(done: done, total: total, bytesPerSecond: Double(done) / seconds)
  }

  // MARK: The watchdog: says who had the loop for longer than others should wait

  func wasHeld(by holder: LoopHolder, for time: Microseconds) {
    guard driver.logs.withLock({ !$0.isEmpty }) else { return }
    let (name, engine) = name(of: holder)
    guard let line = heldLog.line(name, time, now: MonotonicClock.now) else { return }
    let log = driver.logs.withLock { logs in
      engine.flatMap { logs[$0] } ?? logs.min { $0.key < $1.key }?.value
    }
    log?(line)
  }

  /// A stream, a disk or a mistake of ours keeps an operation for longer than its limits say.
  func endStalled(_ operation: NetworkOperation, _ failure: NetworkError) {
    let line = "\(failure.reason ?? "") of \(operation.loop.origin?.text ?? "an answer")"
    driver.logs.withLock { $0[operation.engine.id] }?(line)
    withdraw(operation, failure)
  }

  /// For a socket the origin and whose operation it was, if it is one of a transfer's.
  private func name(of holder: LoopHolder) -> (name: String, engine: UInt64?) {
    switch holder {
    case .commands: return ("commands", nil)
    case .answers: return ("finished transfers", nil)
    case .closures: return ("closures on the loop thread", nil)
    case .timer: return ("a timer", nil)
    case .transfers: return ("libcurl", nil)
    case .socket(let descriptor):
      let port = StraySocket.localPort(of: descriptor)
      let transfer = exchanges.running.first { port != nil && $0.handle.localPort == port }
      guard let operation = transfer?.exchange.owner as? NetworkOperation, let origin = operation.loop.origin
      else {
        return ("a socket", nil)
      }
      return (origin.text, operation.engine.id)
    }
  }
}

extension NetworkOperation {
  var wantedProgress: (upload: Bool, download: Bool) {
    shared.withLock { ($0.handlers.wantsUpload, $0.handlers.wantsDownload) }
  }
}
