internal import Synchronization

/// Progress of bodies, as users are told of it. Loop thread.
extension LoopContext {
  /// At most ten times a second, and only what moved.
  func reportProgress(of transfer: Transfer) {
    guard let operation = transfer.exchange.owner as? NetworkOperation else { return }
    // The body of a redirect, or of an answer that is asked for again, is nobody's progress.
    let delivered = operation.loop.history?.delivered ?? (received: 0, sent: 0)
    let before = bytesBefore(operation, transfer)
    let hasReceived =
      before + transfer.bodyBytes > max(transfer.exchange.reportedBytes, delivered.received)
      && transfer.bodyUse != .discard
    let hasSent = transfer.exchange.bytesSent > max(transfer.exchange.reportedSent, delivered.sent)
    guard hasReceived || hasSent else { return }
    transfer.exchange.reportedBytes = before + transfer.bodyBytes
    transfer.exchange.reportedSent = transfer.exchange.bytesSent
    let received = progress(transfer.bodyBytes, of: transfer.exchange.bytesExpected, transfer, behind: before)
    let sent = progress(transfer.exchange.bytesSent, of: transfer.exchange.bytesToSend, transfer)
    operation.forEachRecipient { recipient in
      let wants = recipient.wantedProgress
      if hasReceived && wants.download { tell(recipient, .download(received)) }
      if hasSent && wants.upload { tell(recipient, .upload(sent)) }
    }
  }

  /// The last word, whatever the clock says. A body that has failed keeps its length to itself, and one that has come less far
  /// than an attempt before says nothing.
  func reportLastProgress(_ operation: NetworkOperation, _ transfer: Transfer, isWhole: Bool) {
    guard transfer.exchange.head != nil else { return }
    reportLastSent(operation, transfer)
    let (received, before) = (transfer.bodyBytes, bytesBefore(operation, transfer))
    let told = max(operation.loop.history?.delivered.received ?? 0, transfer.exchange.reportedBytes)
    if !isWhole || transfer.exchange.head?.status ?? 0 >= 300, before + received < told { return }
    // One of unknown length has its length now.
    let total = transfer.exchange.bytesExpected ?? (isWhole ? received : nil)
    operation.forEachRecipient { recipient in
      guard recipient.wantedProgress.download else { return }
      tell(recipient, .download(progress(received, of: total, transfer, behind: before)))
    }
  }

  /// The same of what is sent, also where the answer leads elsewhere.
  func reportLastSent(_ operation: NetworkOperation, _ transfer: Transfer) {
    let sent = transfer.exchange.bytesSent
    guard let total = transfer.exchange.bytesToSend ?? (sent > 0 ? sent : nil) else { return }
    if sent < operation.loop.history?.delivered.sent ?? 0 { return }
    transfer.exchange.reportedSent = max(transfer.exchange.reportedSent, sent)
    let last = progress(sent, of: total, transfer)
    operation.forEachRecipient { if $0.wantedProgress.upload { tell($0, .upload(last)) } }
  }

  private func progress(
    _ done: Int64, of total: Int64?, _ transfer: Transfer, behind before: Int64 = 0
  ) -> TransferProgress {
    let seconds = Double(max(1, MonotonicClock.now - transfer.exchange.startedAt)) / 1e6
    return TransferProgress(
      done: before + done, total: total.map { before + $0 }, bytesPerSecond: Double(done) / seconds)
  }

  /// The place at which the rest of a body begins that broke off before: its progress is that of the whole.
  private func bytesBefore(_ operation: NetworkOperation, _ transfer: Transfer) -> Int64 {
    guard let head = transfer.exchange.head, head.status == 206, operation.sent.isForRest else { return 0 }
    return head.headers.contentRange?.range?.lowerBound ?? 0
  }
}

extension NetworkOperation {
  var wantedProgress: (upload: Bool, download: Bool) {
    shared.withLock { ($0.handlers.wantsUpload, $0.handlers.wantsDownload) }
  }
}
