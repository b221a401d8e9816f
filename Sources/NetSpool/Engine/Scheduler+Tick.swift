internal import Synchronization

/// Twenty times a second while anything runs: limits of time, and progress.
extension Scheduler {
  func didTick() {
    let now = MonotonicClock.now
    guard !running.isEmpty else {
      tick?.stop()
      // Lets those go that have none: they keep the memory of their stores.
      return cacheSide.claims.beat(now: now)
    }
    ticks += 1
    // Those that end leave `running`, so they are collected first.
    let expired = running.compactMap { transfer in transfer.expired(now: now).map { (transfer, $0) } }
    for (transfer, failure) in expired {
      transfer.fail(failure)
      completed(transfer, code: nil)
    }
    for transfer in running.filter({ $0.dawdles(now: now) }) where transfer.leaveBody() {
      completed(transfer, code: MultiHandle.writeFailed)
    }
    for transfer in running where transfer.exchange.speaksHTTP2 { transfer.endIfSentInVain(now: now) }
    failOver(now: now)
    seats.letOthersPass(running, now: now)
    cacheSide.claims.beat(now: now)
    if ticks % 2 == 0 { for transfer in running { reportProgress(transfer) } }
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
      if wants.upload,
        let total = transfer.exchange.bytesToSend
          ?? (transfer.exchange.bytesSent > 0 ? transfer.exchange.bytesSent : nil)
      {
        tell(recipient, .upload(progress(transfer.exchange.bytesSent, of: total, transfer)))
      }
      if wants.download {
        let done = transfer.bodyBytes
        tell(recipient, .download(progress(done, of: transfer.exchange.bytesExpected ?? done, transfer)))
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
