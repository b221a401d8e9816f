import NetSpool
import NetSpoolFoundation

/// Prints rates of exchange, and asks for them only when those it has are out of date:
///
///     Rates https://rates.example.org/latest?base=EUR FOLDER
@main
struct Rates {
  struct Answer: Decodable {
    let base: String
    let rates: [String: Double]
  }

  static func main() async throws {
    let words = CommandLine.arguments
    let engine = try NetworkEngine()
    var cache = CacheConfiguration(directory: words[2])
    try engine.useCache(cache)
    let response = try await engine.response(for: NetworkRequest(url: words[1]))
    let answer = try response.decoded(as: Answer.self)
    print("from \(response.source), \(response.age?.components.seconds ?? 0) s old")
    for (currency, rate) in answer.rates.sorted(by: { $0.key < $1.key }) {
      print("1 \(answer.base) = \(rate) \(currency)")
    }
    await engine.shutDown()
    engine.closeCache()
  }
}
