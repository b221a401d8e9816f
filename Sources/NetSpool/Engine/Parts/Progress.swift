internal import Synchronization

/// Progress of bodies, and turns that took too long, as users are told of them. Loop thread.
extension LoopContext {
  /// At most ten times a second, and only what moved.
  func reportProgress(of transfer: Transfer) {
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
      if hasReceived && wants.download { tell(recipient, .download(received)) }
      if hasSent && wants.upload { tell(recipient, .upload(sent)) }
    }
  }

  /// The last word, whatever the clock says.
  func reportLastProgress(_ operation: NetworkOperation, _ transfer: Transfer) {
    guard transfer.exchange.head != nil else { return }
    operation.forEachRecipient { recipient in
      let wants = recipient.wantedProgress
      // A body of unknown length has its length now.
      let (sent, received) = (transfer.exchange.bytesSent, transfer.bodyBytes)
      if wants.upload, let total = transfer.exchange.bytesToSend ?? (sent > 0 ? sent : nil) {
        tell(recipient, .upload(progress(sent, of: total, transfer)))
      }
      if wants.download {
        let total = transfer.exchange.bytesExpected ?? received
        tell(recipient, .download(progress(received, of: total, transfer)))
      }
    }
  }

  private func progress(_ done: Int64, of total: Int64?, _ transfer: Transfer) -> TransferProgress {
    let seconds = Double(max(1, MonotonicClock.now - transfer.exchange.startedAt)) / 1e6
    return TransferProgress(done: done, total: total, bytesPerSecond: Double(done) / seconds)
  }
}

extension NetworkOperation {
  var wantedProgress: (upload: Bool, download: Bool) {
    shared.withLock { ($0.handlers.wantsUpload, $0.handlers.wantsDownload) }
  }
}

/// The watchdog: says who had the loop for longer than others should wait. Loop thread.
struct HeldLog {
  private var saidAt: Microseconds?
  private var left = 0

  /// At most so often.
  private static let period: Microseconds = 1_000_000

  mutating func note(
    _ holder: LoopHolder, for time: Microseconds, _ running: [Transfer], _ driver: QueueDriver
  ) {
    guard driver.logs.withLock({ !$0.isEmpty }) else { return }
    let (name, engine) = Self.name(of: holder, running)
    let now = MonotonicClock.now
    if let saidAt, now - saidAt < Self.period {
      left += 1
      return
    }
    let more = left > 0 ? ", and \(left) times more since the last line" : ""
    (saidAt, left) = (now, 0)
    let log = driver.logs.withLock { logs in
      engine.flatMap { logs[$0] } ?? logs.min { $0.key < $1.key }?.value
    }
    log?("the loop was held for \(time / 1000) ms by \(name)\(more)")
  }

  /// For a socket the origin and whose operation it was, if it is one of a transfer's.
  private static func name(of holder: LoopHolder, _ running: [Transfer]) -> (name: String, engine: UInt64?) {
    switch holder {
    case .commands: return ("commands", nil)
    case .answers: return ("finished transfers", nil)
    case .closures: return ("closures on the loop thread", nil)
    case .timer: return ("a timer", nil)
    case .transfers: return ("libcurl", nil)
    case .socket(let descriptor):
      let port = StraySocket.localPort(of: descriptor)
      let transfer = running.first { port != nil && $0.handle.localPort == port }
      guard let operation = transfer?.exchange.owner as? NetworkOperation, let origin = operation.loop.origin
      else { return ("a socket", nil) }
      return (origin.text, operation.engine.id)
    }
  }
}
