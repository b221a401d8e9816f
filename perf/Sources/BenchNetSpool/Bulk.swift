import BenchKit
import NetSpool

/// Work of the lowest class that never ends: each request that does starts the next.
enum Bulk {
  /// Slots that it keeps busy.
  static let width = 16

  static func start(_ engine: NetworkEngine, _ options: Options) {
    for index in 0..<options.bulk { send(engine, options, options.requests + index) }
  }

  private static func send(_ engine: NetworkEngine, _ options: Options, _ index: Int) {
    let operation = engine.operation(url: options.url(index) + "?bulk=\(index)")
    operation.priority = .low
    engine.enqueue(
      operation
        .onCompletion { _ in send(engine, options, index + options.bulk) }
        .onError { _ in send(engine, options, index + options.bulk) })
  }
}
