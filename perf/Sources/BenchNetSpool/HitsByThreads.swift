import BenchKit
import Dispatch
import NetSpool
import Synchronization

/// Fresh hits by several threads, which share nothing but the engine: by closures in batches, or by tasks that wait for each.
func measureHitsByThreads(_ engine: NetworkEngine, _ options: Options, urls: [String]) {
  let readers = (0..<options.threads).map {
    HitReader(engine, urls, number: $0, bodyBytes: options.bodyBytes)
  }
  if options.door == "async" {
    for reader in readers { Task.detached { await reader.readByTask() } }
  } else {
    ThreadTeam.start(readers.count) { readers[$0].readByClosures() }
  }
  Window.report("netspool", options, over: readers.map(\.tally))
}

private final class HitReader: Sendable {
  /// Enough that the wait for the last of them is little beside them.
  private static let batch = 100

  let tally = Tally()
  private let engine: NetworkEngine
  private let urls: [String]
  private let number: Int
  private let bodyBytes: Int
  private let left = Atomic(0)
  private let done = DispatchSemaphore(value: 0)
  /// What was read: a sum that nobody needs could be left out by the compiler.
  private let touched = Atomic(0)

  init(_ engine: NetworkEngine, _ urls: [String], number: Int, bodyBytes: Int) {
    (self.engine, self.urls, self.number, self.bodyBytes) = (engine, urls, number, bodyBytes)
  }

  func readByTask() async {
    for turn in 0... { take(try? await engine.response(for: operation(turn))) }
  }

  func readByClosures() {
    for first in stride(from: 0, to: Int.max, by: Self.batch) {
      left.store(Self.batch, ordering: .relaxed)
      for turn in first..<(first + Self.batch) {
        engine.enqueue(
          operation(turn)
            .onCompletion { [self] response in end(response) }
            .onError { [self] _ in end(nil) })
      }
      done.wait()
    }
  }

  private func end(_ response: NetworkResponse?) {
    take(response)
    if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
  }

  /// The order is scattered, and each thread begins elsewhere.
  private func operation(_ turn: Int) -> NetworkOperation {
    engine.operation(url: urls[(turn &* 7_919 &+ number &* 131) % urls.count])
  }

  private func take(_ response: NetworkResponse?) {
    let sum = response.map { unsafe $0.body.withUnsafeBytes { bytes in unsafe touch(bytes) } } ?? 0
    touched.store(sum, ordering: .relaxed)
    tally.add(ok: response?.source == .cache && response?.body.count == bodyBytes)
  }
}
