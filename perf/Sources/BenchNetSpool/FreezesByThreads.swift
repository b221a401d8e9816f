import BenchKit
import Dispatch
import NetSpool
import Synchronization

/// Requests that must not be lost, accepted from several threads in batches; each thread waits until its batch is on the disk.
/// The queue is held shut, so that none is sent meanwhile.
func measureFreezesByThreads(_ engine: NetworkEngine, _ options: Options) throws(NetworkError) {
  NetworkQueue.shared.isSuspended = true
  var freezing = FreezeConfiguration()
  freezing.directory = options.cache
  (freezing.requestsMax, freezing.bytesMax) = (50_000_000, 1 << 38)
  try engine.useFreezing(freezing)
  let writers = (0..<options.threads).map { FreezeWriter(engine, options, number: $0) }
  ThreadTeam.start(writers.count) { writers[$0].write() }
  Window.report("netspool", options, over: writers.map(\.tally))
}

private final class FreezeWriter: Sendable {
  private static let batch = 1_000

  let tally = Tally()
  private let engine: NetworkEngine
  private let prefix: String
  private let body: [UInt8]
  private let left = Atomic(0)
  private let done = DispatchSemaphore(value: 0)

  init(_ engine: NetworkEngine, _ options: Options, number: Int) {
    self.engine = engine
    prefix = "\(options.urlPrefix)/frozen/\(number)-"
    body = [UInt8](repeating: 2, count: options.bodyBytes)
  }

  func write() {
    for first in stride(from: 0, to: Int.max, by: Self.batch) {
      left.store(Self.batch, ordering: .relaxed)
      for index in first..<(first + Self.batch) { engine.enqueue(operation(index)) }
      done.wait()
    }
  }

  private func operation(_ index: Int) -> NetworkOperation {
    var request = NetworkRequest(url: "\(prefix)\(index)", method: .post)
    request.body = .bytes(body)
    request.isFreezable = true
    return engine.operation(request)
      .onFrozen { [self] _ in end(ok: true) }
      .onError { [self] _ in end(ok: false) }
  }

  private func end(ok: Bool) {
    tally.add(ok: ok)
    if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
  }
}
