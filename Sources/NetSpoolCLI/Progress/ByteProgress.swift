import Dispatch
import NetSpool

/// The progress of one `get`: waits for its operation and draws meanwhile.
final class ByteProgress {
  private let board = TransferBoard()
  private let console: Console
  private var meter = ByteMeter()

  /// Shorter ones are over before anybody looks.
  private static let quietNanoseconds: Int64 = 500_000_000
  private static let tick = DispatchTimeInterval.milliseconds(100)

  init(_ console: Console) { self.console = console }

  /// Counts the body; to be added to the operation.
  func tap(_ name: String, offset: @escaping @Sendable () -> Int64) -> TapStream {
    TapStream(board, name: name, offset: offset)
  }

  /// Enqueues the operation and waits for its end. The last state is left standing.
  func wait(for operation: NetworkOperation, on engine: NetworkEngine) throws(NetworkError) -> NetworkResponse
  {
    let inbox = Inbox<Result<NetworkResponse, NetworkError>>()
    operation.onCompletion { if $0.isFinal { inbox.put(.success($0)) } }.onError { inbox.put(.failure($0)) }
    let begin = MonotonicTime.now
    engine.enqueue(operation)
    while true {
      if let result = inbox.next(until: .now() + Self.tick) {
        end(result)
        return try result.get()
      }
      if MonotonicTime.now - begin >= Self.quietNanoseconds { draw() }
    }
  }

  private func draw() {
    guard let entry = board.largest(1, from: 0).first?.entry else { return }
    meter.update(bytes: entry.bytes, total: entry.total, now: MonotonicTime.now)
    console.show(bars: [ByteLine(meter: meter, name: entry.name).bar(columns: console.columns)])
  }

  private func end(_ result: Result<NetworkResponse, NetworkError>) {
    guard case .success(let response) = result else { return console.removeBars() }
    if meter.bytes > 0, let bytes = response.streams.compactMap(\.path).isEmpty ? nil : meter.total {
      meter.update(bytes: bytes, total: bytes, now: MonotonicTime.now)
      console.show(bars: [ByteLine(meter: meter).bar(columns: console.columns)])
    }
    console.endBar()
  }
}
