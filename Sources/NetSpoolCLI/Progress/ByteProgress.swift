import Dispatch
import NetSpool

/// The progress of one `get`: waits for its operation and draws meanwhile.
final class ByteProgress {
  private let board = TransferBoard()
  private let console: Console
  private let style: ProgressMode.Style
  private var meter = ByteMeter()
  private var nextLine: Int64

  /// Shorter ones are over before anybody looks.
  private static let quietNanoseconds: Int64 = 500_000_000
  private static let tick = DispatchTimeInterval.milliseconds(100)

  private enum Event: Sendable { case ended(Result<NetworkResponse, NetworkError>) }

  init(_ console: Console, _ style: ProgressMode.Style) {
    (self.console, self.style) = (console, style)
    nextLine = Self.now + ProgressPainter.lineInterval
  }

  /// Counts the body; to be added to the operation.
  func tap(_ name: String, offset: @escaping @Sendable () -> Int64) -> TapStream {
    TapStream(board, name: name, offset: offset)
  }

  /// Enqueues the operation and waits for its end. The last state is left standing.
  func wait(for operation: NetworkOperation, on engine: NetworkEngine) throws(NetworkError) -> NetworkResponse
  {
    let inbox = Inbox<Event>()
    operation.onCompletion { if $0.isFinal { inbox.put(.ended(.success($0))) } }
      .onError { inbox.put(.ended(.failure($0))) }
    let begin = Self.now
    engine.enqueue(operation)
    while true {
      if case .ended(let result) = inbox.next(until: .now() + Self.tick) {
        end(result)
        return try result.get()
      }
      if Self.now - begin >= Self.quietNanoseconds { draw() }
    }
  }

  private func draw() {
    guard let entry = board.largest(1, from: 0).first?.entry else { return }
    let now = Self.now
    meter.update(bytes: entry.bytes, total: entry.total, now: now)
    switch style {
    case .bar: console.show(bars: [ByteLine(meter: meter, name: entry.name).bar(columns: console.columns)])
    case .lines:
      guard now >= nextLine else { return }
      nextLine = now + ProgressPainter.lineInterval
      console.message("netspool: \(entry.name): \(ByteLine(meter: meter).plain)")
    case .silent: break
    }
  }

  private func end(_ result: Result<NetworkResponse, NetworkError>) {
    guard case .success(let response) = result, style == .bar else { return console.removeBars() }
    if meter.bytes > 0, let bytes = response.streams.compactMap(\.path).isEmpty ? nil : meter.total {
      meter.update(bytes: bytes, total: bytes, now: Self.now)
      console.show(bars: [ByteLine(meter: meter).bar(columns: console.columns)])
    }
    console.endBar()
  }

  private static var now: Int64 { MonotonicTime.now }
}
