import NetSpool
import Synchronization

/// `get -v`: what is sent and received, as it is on the wire but for its secrets, and where the time went, on standard error.
final class GetTalk: Sendable {
  private let wire = Mutex((sent: WireText(), received: WireText()))

  func saw(_ head: WireHead) {
    wire.withLock { wire in
      switch head {
      case .sent(let bytes): say(wire.sent.lines(of: bytes), after: "> ")
      case .received(let bytes): say(wire.received.lines(of: bytes), after: "< ")
      case .connection: return
      }
    }
  }

  func received(_ response: NetworkResponse) {
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

  /// What the cache had to do with it, if anything.
  private static func origin(_ response: NetworkResponse) -> String? {
    let age = response.age.map { ", \(HumanText.count(Int($0.seconds))) s old" } ?? ""
    switch response.source {
    case .network: return nil
    case .cache: return "from the cache\(age)"
    case .revalidated: return "from the cache, confirmed by the origin\(age)"
    }
  }

  private static func milliseconds(_ seconds: Double) -> String { "\(HumanText.decimal(seconds * 1_000)) ms" }

  /// Writes lines; when standard error cannot be written, no place is left to tell it.
  private func say(_ lines: [String], after mark: String) {
    let text = lines.map { "\(mark)\($0)\n" }.joined()
    try? Descriptor(borrowing: 2, named: "standard error").write(Array(text.utf8))
  }
}
