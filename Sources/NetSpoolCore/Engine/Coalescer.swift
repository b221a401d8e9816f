/// Equal requests that are waiting or running: the first carries the others.
///
/// Compared in full, never by hash alone: method, URL, header fields, redirects that are followed, and engine.
struct Coalescer {
  private struct Entry: Hashable {
    unowned let operation: Operation
    let request: Request

    private var redirects: RedirectPolicy? { request.hasExtras ? request.extra.redirects : nil }

    static func == (a: Entry, b: Entry) -> Bool {
      a.operation.context === b.operation.context && a.request.url == b.request.url
        && a.request.method == b.request.method && a.request.headers == b.request.headers
        && a.redirects == b.redirects
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(request.url)
      hasher.combine(request.method)
    }
  }

  private var carriers: Set<Entry> = []

  /// GET and HEAD without a body, unless the caller wants it alone.
  static func mayShare(_ request: Request) -> Bool {
    guard request.coalesces, request.method == .get || request.method == .head else { return false }
    guard request.hasExtras else { return true }
    if case .none = request.extra.body { return !request.extra.resumes }
    return false
  }

  /// The operation that already asks for the same; if there is none, this one carries from now on.
  mutating func carrier(for operation: Operation, _ request: Request) -> Operation? {
    let (inserted, member) = carriers.insert(Entry(operation: operation, request: request))
    return inserted ? nil : member.operation
  }

  mutating func remove(_ operation: Operation, _ request: Request) {
    let entry = Entry(operation: operation, request: request)
    guard let member = carriers.firstIndex(of: entry), carriers[member].operation === operation else {
      return
    }
    carriers.remove(at: member)
  }
}
