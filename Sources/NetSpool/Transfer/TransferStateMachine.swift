/// The life of one exchange: an event goes in, what to do with it comes out; no I/O.
///
/// `idle` -begin-> `awaitingHead` -head-> `receiving` -done-> `idle`; a failure may come at any time and the
/// first one is kept. Anything else is a mistake of ours and traps with its name.
struct TransferStateMachine: Sendable {
  enum State: Equatable, Sendable {
    case idle
    case awaitingHead
    case receiving(BodyUse)
  }

  enum Event: Sendable {
    case begin(bytesMax: Int64)
    /// The final head; 1xx heads are not told.
    case head(BodyUse, bytesMax: Int64)
    /// The body goes to sinks as well from now on.
    case widen
    /// Decoded body bytes.
    case bytes(Int)
    case fail(NetworkError)
    /// libcurl reported the end.
    case done
  }

  enum Action: Sendable, Equatable {
    case proceed
    /// Hand these bytes on.
    case use(BodyUse)
    /// Tell libcurl to end the transfer.
    case stop
  }

  private(set) var state = State.idle
  /// Why it must not succeed; the first reason counts.
  private(set) var failure: NetworkError?
  private(set) var bodyBytes: Int64 = 0
  private var bytesMax = Int64.max

  init() {}

  @discardableResult
  mutating func handle(_ event: Event) -> Action {
    switch (state, event) {
    case (.idle, .begin(let limit)): begin(limit)
    case (.awaitingHead, .head(let use, let limit)): head(use, limit)
    case (.receiving(let use), .bytes(let count)): bytes(count, use)
    case (.receiving(let use), .widen): widen(use)
    case (.awaitingHead, .fail(let failure)), (.receiving, .fail(let failure)): fail(failure)
    case (.awaitingHead, .done), (.receiving, .done): done()
    default: preconditionFailure("NetSpool: a transfer cannot take \(event) when \(state)")
    }
  }

  private mutating func begin(_ limit: Int64) -> Action {
    state = .awaitingHead
    failure = nil
    bodyBytes = 0
    bytesMax = limit
    return .proceed
  }

  private mutating func head(_ use: BodyUse, _ limit: Int64) -> Action {
    state = .receiving(use)
    bytesMax = limit
    return failure == nil ? .proceed : .stop
  }

  private mutating func widen(_ use: BodyUse) -> Action {
    var use = use
    use.streams = true
    state = .receiving(use)
    return .proceed
  }

  private mutating func bytes(_ count: Int, _ use: BodyUse) -> Action {
    guard failure == nil else { return .stop }
    bodyBytes += Int64(count)
    guard bodyBytes <= bytesMax else {
      return fail(NetworkError(.bodyTooLarge, reason: "more than \(bytesMax) bytes", sendState: .answered))
    }
    return .use(use)
  }

  private mutating func fail(_ failure: NetworkError) -> Action {
    if self.failure == nil { self.failure = failure }
    return .stop
  }

  private mutating func done() -> Action {
    state = .idle
    return .proceed
  }
}
