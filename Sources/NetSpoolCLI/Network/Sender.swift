import NetSpool
import Synchronization

/// Sends parcels, also from the loop thread: a body that broke off is begun again from there.
final class Sender: Sendable {
  /// One URL, where its body goes, and who waits for it.
  struct Parcel: Sendable {
    let url: String
    /// Nil: the body is read and dropped.
    let path: String?
    let completion: @Sendable (FetchOutcome) -> Void
    /// Attempts that were made before.
    var attempts = 0
  }

  let engine: NetworkEngine
  private let attemptsMax: Int
  private let digests: Bool
  private let priority: OperationPriority
  private let timeouts: NetworkTimeouts
  private let brake: ByteBrake?
  private let isDraining = Atomic(false)

  init(_ engine: NetworkEngine, _ options: FetchOptions) {
    self.engine = engine
    attemptsMax = options.request.retry + 1
    digests = options.checksum
    priority = options.priority.operationPriority
    timeouts = engine.configuration.timeouts
    brake = options.request.limitRate.map(ByteBrake.init)
  }

  func send(_ parcel: Parcel) {
    let operation = engine.operation(url: parcel.url)
    // An engine's total holds for bodies in memory only; as the operation's own it holds for streams too.
    operation.timeouts = timeouts
    operation.addDownloadStream(
      parcel.path.map { FileDownloadStream(path: $0, digests: digests) } ?? DiscardStream.shared)
    if let brake { operation.addDownloadStream(BrakeStream(brake)) }
    if priority != .normal { operation.priority = priority }
    operation.onCompletion { parcel.completion(FetchOutcome($0, after: parcel.attempts)) }
    operation.onError { [self] in didFail(parcel, $0) }
    engine.enqueue(operation)
  }

  /// Ends what was not sent yet, attempts that wait for their next turn included.
  func drain() {
    isDraining.store(true, ordering: .relaxed)
    engine.cancel { $0.state == .queued }
  }

  private func didFail(_ parcel: Parcel, _ error: NetworkError) {
    let outcome = FetchOutcome(error, after: parcel.attempts)
    guard error.brokeOff, outcome.attempts < attemptsMax, !isDraining.load(ordering: .relaxed) else {
      return parcel.completion(outcome)
    }
    var again = parcel
    again.attempts = outcome.attempts
    send(again)
  }
}

extension NetworkError {
  /// The body had begun. The library repeats only exchanges whose bytes no stream has seen; ours start over,
  /// so they may be repeated by us.
  fileprivate var brokeOff: Bool {
    guard let status = response?.status, (200..<300).contains(status) else { return false }
    return [.connectionLost, .bodyTruncated, .timedOut, .http2Failed, .transportFailed].contains(code)
  }
}

extension PriorityName {
  fileprivate var operationPriority: OperationPriority {
    switch self {
    case .low: .low
    case .normal: .normal
    case .high: .high
    case .urgent: .urgent
    }
  }
}
