import BenchKit
import Glibc
import NetSpool
import Synchronization

/// GETs by as many chains as are on the wire: each asks for its next URL when it has its answer, and counts by itself, so that
/// loops meet nowhere but in the library.
func measureChains(_ engine: NetworkEngine, _ options: Options) {
  let prefixes = evenPrefixes(engine, options)
  let each = max(1, (options.concurrency + options.queued) / prefixes.count)
  let chains = prefixes.flatMap { prefix in
    (0..<each).map { Chain(engine, options, ChainURLs(options, prefix: prefix, number: $0, of: each)) }
  }
  for chain in chains { chain.start() }
  Window.report("netspool", options, over: chains.map(\.tally))
}

private final class Chain: Sendable {
  let tally = Tally()
  private let engine: NetworkEngine
  private let bodyBytes: Int
  private let isAsync: Bool
  // A lock that is never waited for: a chain has one request under way.
  private let urls: Mutex<ChainURLs>

  init(_ engine: NetworkEngine, _ options: Options, _ urls: ChainURLs) {
    self.engine = engine
    self.urls = Mutex(urls)
    (bodyBytes, isAsync) = (options.bodyBytes, options.door == "async")
  }

  func start() {
    guard isAsync else { return send() }
    Task.detached { [self] in
      while true { take(try? await engine.response(for: next())) }
    }
  }

  private func next() -> NetworkOperation { engine.operation(url: urls.withLock { $0.take() }) }

  private func take(_ response: NetworkResponse?) {
    tally.add(ok: response?.status == 200 && response?.body.count == bodyBytes)
  }

  private func send() {
    engine.enqueue(
      next()
        .onCompletion { [self] response in
          take(response)
          send()
        }
        .onError { [self] _ in
          take(nil)
          send()
        })
  }
}

/// Prefixes of as many origins as the options say, of which each loop has as many as the others: origins are dealt out by
/// their names, and by chance two of two might be on one loop.
private func evenPrefixes(_ engine: NetworkEngine, _ options: Options) -> [String] {
  guard options.hosts > 1 else { return [options.urlPrefix] }
  guard options.delivery == "loop" else { usageError("several origins: only with --delivery loop") }
  let candidates = (0..<(options.hosts * 16)).map(options.prefix(ofHost:))
  let ofThreads = Mutex<[UInt: [String]]>([:])
  let (asked, failed) = (Counter(), Counter())
  for prefix in candidates {
    engine.enqueue(
      engine.operation(url: "\(prefix)/t/000001.bin")
        .onCompletion { _ in
          ofThreads.withLock { $0[UInt(pthread_self()), default: []].append(prefix) }
          asked.add()
        }
        .onError { _ in
          failed.add()
          asked.add()
        })
  }
  while asked.value < candidates.count { usleep(1_000) }
  let threads = ofThreads.withLock { Array($0.values) }
  let each = max(1, options.hosts / max(1, threads.count))
  guard failed.value == 0, threads.allSatisfy({ $0.count >= each }) else {
    usageError("too few origins for each loop")
  }
  return threads.flatMap { $0.prefix(each) }
}
