/// The closures of an operation. Nearly all have one or two, which need no array.
struct Handlers: Sendable {
  enum Handler: Sendable {
    case completion(@Sendable (NetworkResponse) -> Void)
    case failure(@Sendable (NetworkError) -> Void)
    /// Either ending.
    case final(@Sendable (Result<NetworkResponse, NetworkError>) -> Void)
    /// Our own bookkeeping: either ending, after the user's closures of that time; catches nothing.
    case ended(@Sendable () -> Void)
    case uploadProgress(@Sendable (TransferProgress) -> Void)
    case downloadProgress(@Sendable (TransferProgress) -> Void)
    case frozen(@Sendable (FrozenTicket) -> Void)
    case attempt(@Sendable (Int, NetworkError) -> Void)
    case notModified(@Sendable () -> Void)
    case state(@Sendable (NetworkOperation.State) -> Void)
  }

  private var first: Handler?
  private var second: Handler?
  private var rest: [Handler] = []

  mutating func append(_ handler: Handler) {
    if first == nil {
      first = handler
    } else if second == nil {
      second = handler
    } else {
      rest.append(handler)
    }
  }

  func forEach(_ body: (Handler) -> Void) {
    if let first { body(first) }
    if let second { body(second) }
    for handler in rest { body(handler) }
  }

  func contains(_ matches: (Handler) -> Bool) -> Bool {
    if let first, matches(first) { return true }
    if let second, matches(second) { return true }
    return rest.contains(where: matches)
  }

  var wantsState: Bool { contains { if case .state = $0 { true } else { false } } }
  var wantsAttempts: Bool { contains { if case .attempt = $0 { true } else { false } } }
  var wantsUpload: Bool { contains { if case .uploadProgress = $0 { true } else { false } } }
  var wantsDownload: Bool { contains { if case .downloadProgress = $0 { true } else { false } } }
  var catchesFailures: Bool {
    contains { handler in
      switch handler {
      case .failure, .final: true
      default: false
      }
    }
  }
}
