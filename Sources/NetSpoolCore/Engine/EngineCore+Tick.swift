internal import Synchronization

/// Twenty times a second while anything runs: limits of time, and progress.
extension EngineCore {
  func tock() {
    guard !running.isEmpty else {
      tick?.stop()
      return
    }
    let now = MonotonicClock.now
    ticks += 1
    // Those that end leave `running`, so they are collected first.
    let expired = running.compactMap { transfer in transfer.expired(now: now).map { (transfer, $0) } }
    for (transfer, expiry) in expired {
      transfer.fail(Failure(.timedOut, reason: expiry.rawValue))
      completed(transfer, code: nil)
    }
    if ticks % 2 == 0 { for transfer in running { reportProgress(transfer, now: now) } }
    loop.markDirty()
  }

  /// At most ten times a second, and only what moved.
  private func reportProgress(_ transfer: Transfer, now: Microseconds) {
    guard let operation = transfer.owner as? Operation else { return }
    let seconds = Double(max(1, now - transfer.startedAt)) / 1e6
    // The body of a redirect or of an answer that is asked for again is nobody's progress.
    if transfer.bodyBytes != transfer.reportedBytes, transfer.bodyUse != .discard {
      transfer.reportedBytes = transfer.bodyBytes
      let progress = TransferProgress(
        done: transfer.bodyBytes, total: transfer.bytesExpected,
        bytesPerSecond: Double(transfer.bodyBytes) / seconds)
      for waiter in waiters(of: operation) where waiter.wantsDownloadProgress {
        tell(waiter, .download(progress))
      }
    }
    if transfer.bytesSent != transfer.reportedSent {
      transfer.reportedSent = transfer.bytesSent
      let progress = TransferProgress(
        done: transfer.bytesSent, total: transfer.bytesToSend,
        bytesPerSecond: Double(transfer.bytesSent) / seconds)
      for waiter in waiters(of: operation) where waiter.wantsUploadProgress {
        tell(waiter, .upload(progress))
      }
    }
  }

  /// The last word, whatever the clock says.
  func reportLastProgress(_ operation: Operation, _ transfer: Transfer) {
    guard transfer.head != nil else { return }
    let seconds = Double(max(1, MonotonicClock.now - transfer.startedAt)) / 1e6
    for waiter in waiters(of: operation) {
      // A body of unknown length has its length now.
      if waiter.wantsUploadProgress,
        let total = transfer.bytesToSend ?? (transfer.bytesSent > 0 ? transfer.bytesSent : nil)
      {
        let rate = Double(transfer.bytesSent) / seconds
        tell(waiter, .upload(TransferProgress(done: transfer.bytesSent, total: total, bytesPerSecond: rate)))
      }
      if waiter.wantsDownloadProgress {
        let done = transfer.bodyBytes
        let rate = Double(done) / seconds
        tell(
          waiter,
          .download(TransferProgress(done: done, total: transfer.bytesExpected ?? done, bytesPerSecond: rate))
        )
      }
    }
  }
}

extension Operation {
  var wantsDownloadProgress: Bool { shared.withLock { $0.handlers.wantsDownload } }
  var wantsUploadProgress: Bool { shared.withLock { $0.handlers.wantsUpload } }
}
