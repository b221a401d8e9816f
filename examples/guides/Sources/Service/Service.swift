import NetSpool
import NetSpoolFoundation

struct Price: Codable, Sendable {
  var cents: Int
}

/// The service's client of the price server.
struct Prices: Sendable {
  let engine: NetworkEngine

  init(url: String) throws {
    var configuration = NetworkEngine.Configuration()
    configuration.timeouts.total = .seconds(5)
    configuration.timeouts.queueDeadline = .seconds(2)
    configuration.retry = .standard
    configuration.onEnd = { operation, result, metrics in
      guard case .failure(let error) = result else { return }
      print("failed after", metrics.endToEnd, error)
    }
    engine = try NetworkEngine(
      url: url, configuration: configuration)
    try engine.useCache()
  }

  func price(of article: String) async throws -> Price {
    let request = engine.operation(path: ["prices", article])
    let answer = try await engine.response(for: request)
    return try answer.decoded(as: Price.self)
  }
}

@main
struct Service {
  static func main() async throws {
    let prices = try Prices(url: CommandLine.arguments[1])
    // A web framework would call this for each request.
    await withTaskGroup(of: Void.self) { group in
      while let article = readLine() {
        group.addTask { await answer(article, prices) }
      }
    }
    await prices.engine.shutDown(deadline: .seconds(10))
  }

  static func answer(_ article: String, _ prices: Prices) async {
    do {
      print(article, try await prices.price(of: article).cents)
    } catch {
      print(article, "has no price now")
    }
  }
}
