import NetSpool

/// Fills a cache with all URLs of standard input, however many, and shows meanwhile what the queue is doing, as top(1) does:
///
///     Prefetch FOLDER < urls.txt
@main
struct Prefetch {
  static func main() async throws {
    let engine = try NetworkEngine()
    try engine.useCache(CacheConfiguration(directory: CommandLine.arguments[1]))
    let top = Task { await show(engine.configuration.queue) }
    let summary = await engine.prefetch(Lines()) { result in
      if case .failure(let error) = result.outcome { print(result.url, error) }
    }
    top.cancel()
    print("\(summary.succeeded) fetched, \(summary.failed) failed, \(summary.bytes) bytes")
    await engine.shutDown()
    engine.closeCache()
  }

  /// A table each second.
  static func show(_ queue: NetworkQueue) async {
    repeat {
      let snapshot = await queue.snapshot
      print(
        "\(snapshot.activity.running) running, \(snapshot.activity.queued) waiting, \(snapshot.activity.bytesIn) bytes in"
      )
      for origin in snapshot.origins {
        print(
          "  \(origin.origin) width \(origin.width), running \(origin.running), waiting \(origin.waiting),",
          "connections \(origin.connections)\(origin.quiet.map { ", asks for quiet for \($0)" } ?? "")")
      }
      try? await Task.sleep(for: .seconds(1))
    } while !Task.isCancelled
  }
}

/// Standard input, line by line, as they are asked for.
struct Lines: Sequence, IteratorProtocol {
  mutating func next() -> String? { readLine() }
}
