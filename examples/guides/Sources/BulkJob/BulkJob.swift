import NetSpool

@main
struct BulkJob {
  static func main() async throws {
    let engine = try NetworkEngine()
    var cache = CacheConfiguration(
      directory: CommandLine.arguments[1])
    cache.bytesMax = 20 << 30
    try engine.useCache(cache)

    // The list is read as it is needed.
    let urls = AnySequence { AnyIterator { readLine() } }
    let summary = await engine.prefetch(urls) { result in
      guard case .failure(let error) = result.outcome
      else { return }
      print(result.url, error)
    }
    print(summary.succeeded, "fetched,", summary.failed, "failed")

    // A program that ends at once writes the rest first.
    engine.closeCache()
  }
}
