import NetSpool
import Synchronization

/// `get -v`: what is sent and received, as it is on the wire but for its secrets, and where the time went, on standard error.
///
/// It is one of the operation's streams as well, so that the head of an answer from the cache stands before its body.
final class GetTalk: WatchingStream {
  private struct Wire {
    var sent = WireText()
    var received = WireText()
    var hasAnswer = false
  }

  private let wire = Mutex(Wire())

  func open(_ head: ResponseHead, bytesExpected: Int64?) {
    printHead(head.httpVersion, head.status, head.headers)
  }

  func write(_ bytes: RawSpan) -> WriteResult { .accepted }
  func close(_ outcome: Result<Void, NetworkError>) {}

  func saw(_ head: WireHead) {
    wire.withLock { wire in
      switch head {
      case .sent(let bytes): say(wire.sent.lines(of: bytes), after: "> ")
      case .received(let bytes):
        wire.hasAnswer = true
        say(wire.received.lines(of: bytes), after: "< ")
      case .connection: return
      }
    }
  }

  func received(_ response: NetworkResponse) {
    printHead(response.httpVersion, response.status, response.headers)
    let metrics = response.metrics
    var notes = ["\(metrics.bytesReceived) bytes in \(Self.milliseconds(metrics.total.seconds))"]
    if let origin = Self.origin(response) { notes.insert(origin, at: 0) }
    let phases = [
      ("lookup", metrics.nameLookup), ("connect", metrics.connect), ("tls", metrics.tlsHandshake),
      ("first byte", metrics.firstByte),
    ]
    notes += phases.filter { $0.1 > .zero }.map { "\($0.0) \(Self.milliseconds($0.1.seconds))" }
    if metrics.attempts > 1 { notes.append("\(metrics.attempts) attempts") }
    if metrics.redirects > 0 { notes.append("from \(URLText.masked(response.finalURL))") }
    say([notes.joined(separator: ", ")], after: "* ")
  }

  private func printHead(_ version: String, _ status: Int, _ headers: NetworkRequest.Headers) {
    let isKnown = wire.withLock { wire in
      defer { wire.hasAnswer = true }
      return wire.hasAnswer
    }
    if isKnown { return }
    say(["\(version) \(status)"] + Self.lines(headers), after: "< ")
  }

  /// What the cache had to do with it, if anything.
  private static func origin(_ response: NetworkResponse) -> String? {
    let age = response.age.map { ", \(HumanText.count(Int($0.seconds))) s old" } ?? ""
    switch response.source {
    case .network: return nil
    case .cache: return "from the cache\(age)"
    case .revalidated: return "from the cache, confirmed by the origin\(age)"
    }
  }

  private static func lines(_ headers: NetworkRequest.Headers) -> [String] {
    headers.description.split(separator: "\n").map(String.init)
  }

  private static func milliseconds(_ seconds: Double) -> String { "\(HumanText.decimal(seconds * 1_000)) ms" }

  /// Another exchange begins.
  func begin() { wire.withLock { $0 = Wire() } }

  /// Writes lines; nobody is left to tell when standard error cannot be written.
  private func say(_ lines: [String], after mark: String) {
    let text = lines.map { "\(mark)\($0)\n" }.joined()
    try? Descriptor(borrowing: 2, named: "standard error").write(Array(text.utf8))
  }
}
